// SPDX-License-Identifier: Apache-2.0
// The printed plan, word for word, for a net small enough to read.
#include "tests/engine/plan/plan_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::plan {
namespace {

using testing::HasSubstr;

TEST(PrintTest, SmallPlan)
{
    MlpConfig config = configOf({16, 10}, 8);
    config.name = "small";
    config.optimizer.kind = OptimizerKind::Sgd;
    EXPECT_EQ(
        print(buildPlan(config, "fp8")),
        R"(plan 'small', mode fp8, recipe tensorwise: 1 layer, 7 ops a step, 6.36 kFLOP, at least 7.24 kB moved, arena 4.61 kB
fusions: none
cuBLASLt runs its GEMMs on compute capability 8.0, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0

layers
  layer   in  out  runs in  because
  layer0  16   10  bf16     out features 10 is not a multiple of 16

ops
  #  op                      phase      role             shape    FLOP   bytes  operands
  0  load_batch              other      copy            8 x 16       0  1.15 k  -> layer0.x, target
  1  layer0.fwd.gemm         forward    gemm       8 x 10 x 16  2.56 k     736  layer0.w, layer0.x -> layer0.z  [TN bf16 bf16 bf16]
  2  layer0.fwd.bias_add     forward    bias            8 x 10      80     340  layer0.z, layer0.b -> layer0.z
  3  loss                    other      loss            8 x 10     400     644  layer0.z, target -> layer0.dy, loss
  4  layer0.wgrad.gemm       wgrad      gemm       10 x 16 x 8  2.56 k     736  layer0.x, layer0.dy -> layer0.dw  [NT bf16 bf16 bf16]
  5  layer0.wgrad.bias_grad  wgrad      bias_grad       8 x 10      80     200  layer0.dy -> layer0.db
  6  layer0.optimizer        optimizer  optimizer      10 x 16     680  3.43 k  layer0.dw, layer0.db -> layer0.w, layer0.w.master, layer0.w.momentum, layer0.b, layer0.b.master, layer0.b.momentum, layer0.step

tensors
  tensor             type    shape  class            live    offset  bytes
  layer0.w           bf16  10 x 16  weights          always       0    320
  layer0.w.master    f32   10 x 16  master weights   always     512    640
  layer0.w.momentum  f32   10 x 16  optimizer state  always    1280    640
  layer0.b           bf16   1 x 10  weights          always    2048     20
  layer0.b.master    f32    1 x 10  master weights   always    2304     40
  layer0.b.momentum  f32    1 x 10  optimizer state  always    2560     40
  layer0.step        f32     1 x 1  optimizer state  always    2816      4
  layer0.x           bf16   8 x 16  batch            0..4      3584    256
  target             f32    8 x 10  batch            0..3      3072    320
  layer0.z           bf16   8 x 10  activations      1..3      4096    160
  layer0.dy          bf16   8 x 10  gradients        3..5      4352    160
  loss               f32     1 x 1  workspace        3..6      3840      4
  layer0.dw          bf16  10 x 16  gradients        4..6      3072    320
  layer0.db          f32    1 x 10  gradients        5..6      3584     40

  memory in bytes                 at its own peak  at the step's peak
  weights                                     340                 340
  master weights                              680                 680
  optimizer state                             684                 684
  batch                                       576                 576
  activations                                 160                 160
  gradients                                   520                 160
  fp8 copies                                    0                   0
  fp8 transposes                                0                   0
  scales                                        0                   0
  workspace                                     4                   4
  arena (bytes shared over time)             4608                2604
)");
}

TEST(PrintTest, Fp8GemmsShowLayoutTypesEpilogueAndAccumulation)
{
    const std::string text = print(buildPlan(configOf({32, 16, 16}, 16), "fp8-fused"));
    EXPECT_THAT(text, HasSubstr("mode fp8-fused, recipe tensorwise: 2 layers, 27 ops a step"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "fusions: bias_epilogue cast_chain cast_transpose dbias_cast_transpose act_cast dact_dbias_cast_transpose "
            "weight_cache\n"));
    EXPECT_THAT(text, HasSubstr("layer0.fwd.x.scale_inv, layer0.b -> layer0.z  [TN e4m3 e4m3 bf16 bias fast]\n"));
    EXPECT_THAT(text, HasSubstr("-> layer1.dw  [TN e4m3 e5m2 bf16]\n"));
}

TEST(PrintTest, SaysWhereCublasLtRunsTheRecipe)
{
    const auto lineOf = [](RecipeKind kind) {
        MlpConfig config = configOf({64, 32, 32}, 32);
        config.recipe.kind = kind;
        return print(buildPlan(config, "fp8"));
    };
    const std::string line = "cuBLASLt runs its GEMMs on compute capability ";
    EXPECT_THAT(lineOf(RecipeKind::Tensorwise), HasSubstr(line + "8.9, 9.0, 10.0, 10.3, 11.0, 12.0\n"));
    EXPECT_THAT(lineOf(RecipeKind::Rowwise), HasSubstr(line + "9.0\n"));
    EXPECT_THAT(lineOf(RecipeKind::Blockwise), HasSubstr(line + "9.0\n"));
    EXPECT_THAT(lineOf(RecipeKind::Mxfp8), HasSubstr(line + "10.0, 10.3, 11.0, 12.0\n"));
    EXPECT_THAT(lineOf(RecipeKind::Blockwise), HasSubstr("[TN e4m3 e4m3 bf16 scales 128x128 1x128]\n"));
}

TEST(PrintTest, ViewsNameTheirParent)
{
    MlpConfig config = delayed(configOf({16, 16}, 16));
    EXPECT_THAT(print(buildPlan(config, "fp8")), HasSubstr("in delayed.scale_inv"));
}

}  // namespace
}  // namespace fp8scope::plan
