// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's rules, one row a case: a legal call, one thing changed, and the reason given.
#include "engine/plan/step_plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace fp8scope::plan {
namespace {

const TensorId kSomeTensor(7);

/// y[32,48] = x[32,64] w[48,64]^T, all operands TN.
GemmCall fp8Call()
{
    GemmCall call;
    call.transA = true;
    call.a = {DType::E4m3, 64, 48, 64};
    call.b = {DType::E4m3, 64, 32, 64};
    call.d = {DType::Bf16, 48, 32, 48};
    call.aScaleMode = call.bScaleMode = ScaleMode::Scalar32F;
    call.aScale = call.bScale = kSomeTensor;
    return call;
}

GemmCall bf16Call()
{
    GemmCall call = fp8Call();
    call.a.type = call.b.type = DType::Bf16;
    call.aScaleMode = call.bScaleMode = ScaleMode::None;
    call.aScale = call.bScale = TensorId::none();
    return call;
}

GemmCall scaledCall(ScaleMode mode)
{
    GemmCall call = fp8Call();
    call.aScaleMode = call.bScaleMode = mode;
    return call;
}
GemmCall rowScaledCall() { return scaledCall(ScaleMode::OuterVec32F); }
GemmCall blockScaledCall() { return scaledCall(ScaleMode::Vec128_32F); }
GemmCall mxfp8Call() { return scaledCall(ScaleMode::Vec32Ue8m0); }

struct Case {
    const char* what;
    GemmCall (*base)();
    std::function<void(GemmCall&)> change;
    int computeCapability;
    const char* reason;  ///< empty: legal
};

void toNn(GemmCall& call)
{
    call.transA = false;
    call.a = {call.a.type, 48, 64, 48};
}

void toNt(GemmCall& call)
{
    toNn(call);
    call.transB = true;
    call.b = {call.b.type, 32, 64, 32};
}

void withBias(GemmCall& call)
{
    call.epilogue = Epilogue::Bias;
    call.bias = kSomeTensor;
}

const std::vector<Case>& cases()
{
    static const auto none = [](GemmCall&) {};
    static const std::vector<Case> all{
        {"fp8 on Ada", fp8Call, none, 89, ""},
        {"fp8 on Hopper", fp8Call, none, 90, ""},
        {"fp8 on Blackwell", fp8Call, none, 100, ""},
        {"fp8 on Ampere", fp8Call, none, 80, "fp8 GEMMs need compute capability 8.9 or newer, this is 8.0"},
        {"bf16 on Ampere", bf16Call, none, 80, ""},
        {"bf16 on Turing", bf16Call, none, 75, "bf16 GEMMs need compute capability 8.0 or newer, this is 7.5"},

        {"NN on Hopper", fp8Call, toNn, 90, "layout NN: fp8 operands must be TN on compute capability 9.0"},
        {"NT on Hopper", fp8Call, toNt, 90, "layout NT: fp8 operands must be TN on compute capability 9.0"},
        {"NN on Blackwell", fp8Call, toNn, 100, ""},
        {"NT on Blackwell", fp8Call, toNt, 103, ""},
        {"NN on GeForce Blackwell", fp8Call, toNn, 120,
         "layout NN: fp8 operands must be TN on compute capability 12.0"},
        {"bf16 NN on Hopper", bf16Call, toNn, 90, ""},
        {"bf16 NT on Hopper", bf16Call, toNt, 90, ""},

        {"e4m3 x e5m2", fp8Call, [](GemmCall& c) { c.b.type = DType::E5m2; }, 90, ""},
        {"e5m2 x e4m3", fp8Call, [](GemmCall& c) { c.a.type = DType::E5m2; }, 90, ""},
        {"e5m2 x e5m2", fp8Call, [](GemmCall& c) { c.a.type = c.b.type = DType::E5m2; }, 90,
         "e5m2 with e5m2 is not supported: one operand must be e4m3"},
        {"fp8 x bf16", fp8Call, [](GemmCall& c) { c.b.type = DType::Bf16; }, 90,
         "e4m3 with bf16: an fp8 operand goes with an fp8 operand only"},
        {"fp8 to f32", fp8Call, [](GemmCall& c) { c.d.type = DType::F32; }, 90, ""},
        {"fp8 to e4m3", fp8Call, [](GemmCall& c) { c.d.type = DType::E4m3; }, 90, ""},
        {"e4m3 x e4m3 to e5m2", fp8Call, [](GemmCall& c) { c.d.type = DType::E5m2; }, 90,
         "an e5m2 result needs an e5m2 operand"},
        {"e4m3 x e5m2 to e5m2", fp8Call, [](GemmCall& c) { c.b.type = c.d.type = DType::E5m2; }, 90, ""},
        {"fp8 to i32", fp8Call, [](GemmCall& c) { c.d.type = DType::I32; }, 90,
         "fp8 operands do not give a i32 result"},
        {"bf16 to f32", bf16Call, [](GemmCall& c) { c.d.type = DType::F32; }, 90, ""},
        {"bf16 to e4m3", bf16Call, [](GemmCall& c) { c.d.type = DType::E4m3; }, 90,
         "bf16 operands do not give a e4m3 result"},
        {"bf16 x f32", bf16Call, [](GemmCall& c) { c.b.type = DType::F32; }, 90,
         "operands of different types, bf16 and f32"},

        {"k of 40", fp8Call, [](GemmCall& c) { c.a.rows = c.b.rows = 40; }, 90,
         "A has 40 e4m3 rows, 40 bytes: not a multiple of 16 bytes"},
        {"lda of 72", fp8Call, [](GemmCall& c) { c.a.ld = 72; }, 90,
         "A has leading dimension 72 in e4m3, 72 bytes: not a multiple of 16 bytes"},
        {"m of 12, bf16 result", fp8Call,
         [](GemmCall& c) {
             c.a.cols = c.d.rows = 12;
             c.d.ld = 16;
         },
         90, "D has 12 bf16 rows, 24 bytes: not a multiple of 16 bytes"},
        {"m of 8, bf16 result", fp8Call, [](GemmCall& c) { c.a.cols = c.d.rows = c.d.ld = 8; }, 90, ""},
        {"bf16 with odd sizes", bf16Call,
         [](GemmCall& c) {
             c.a = {DType::Bf16, 5, 7, 5};
             c.b = {DType::Bf16, 5, 3, 5};
             c.d = {DType::Bf16, 7, 3, 7};
         },
         90, ""},

        {"inner sizes differ", fp8Call,
         [](GemmCall& c) {
             c.b.rows = 48;
             c.b.ld = 48;
         },
         90, "shapes do not fit: op(A) is 48 x 64, op(B) 48 x 32, D 48 x 32"},
        {"short leading dimension", fp8Call, [](GemmCall& c) { c.b.ld = 48; }, 90,
         "the leading dimension of B, 48, is less than its 64 rows"},
        {"empty", bf16Call, [](GemmCall& c) { c.b.cols = c.d.cols = 0; }, 90, "every dimension must be at least 1"},

        {"fp8 without scales", fp8Call,
         [](GemmCall& c) {
             c.aScaleMode = c.bScaleMode = ScaleMode::None;
             c.aScale = c.bScale = TensorId::none();
         },
         90, ""},
        {"scale mode without scale", fp8Call, [](GemmCall& c) { c.bScale = TensorId::none(); }, 90,
         "B has a scale mode but no scale"},
        {"scale without mode", fp8Call, [](GemmCall& c) { c.aScaleMode = ScaleMode::None; }, 90,
         "A has a scale but no scale mode"},
        {"scale on bf16", bf16Call,
         [](GemmCall& c) {
             c.aScaleMode = ScaleMode::Scalar32F;
             c.aScale = kSomeTensor;
         },
         90, "A is bf16: only fp8 operands take a scale"},

        {"rows on Hopper", rowScaledCall, none, 90, ""},
        {"rows on Blackwell", rowScaledCall, none, 100, "row scales need compute capability 9.0, this is 10.0"},
        {"rows on Ada", rowScaledCall, none, 89, "row scales need compute capability 9.0, this is 8.9"},
        {"rows with a tensor scale", rowScaledCall, [](GemmCall& c) { c.bScaleMode = ScaleMode::Scalar32F; }, 90,
         "row scales with tensor scales: both operands must have the same kind"},
        {"rows to e4m3", rowScaledCall, [](GemmCall& c) { c.d.type = DType::E4m3; }, 90,
         "row scales do not give an fp8 result"},
        {"1x128 by 1x128", blockScaledCall, none, 90, ""},
        {"128x128 by 1x128", blockScaledCall, [](GemmCall& c) { c.aScaleMode = ScaleMode::Blk128x128_32F; }, 90, ""},
        {"128x128 by 128x128", blockScaledCall,
         [](GemmCall& c) { c.aScaleMode = c.bScaleMode = ScaleMode::Blk128x128_32F; }, 90,
         "scales for 128x128 blocks on both sides: one operand must have 1x128 blocks"},
        {"1x128 on Blackwell", blockScaledCall, none, 100, "1x128 scales need compute capability 9.0, this is 10.0"},
        {"1x128 with n of 30", blockScaledCall, [](GemmCall& c) { c.b.cols = c.d.cols = 30; }, 90,
         "128-element scale blocks need m and n that are multiples of 4, these are 48 and 30"},
        {"mxfp8 on Blackwell", mxfp8Call, none, 100, ""},
        {"mxfp8 on GeForce Blackwell", mxfp8Call, none, 120, ""},
        {"mxfp8 on Hopper", mxfp8Call, none, 90, "mxfp8 scales need compute capability 10.0 or newer, this is 9.0"},
        {"mxfp8 to e4m3", mxfp8Call, [](GemmCall& c) { c.d.type = DType::E4m3; }, 100, ""},
        {"mxfp8 with k of 48", mxfp8Call, [](GemmCall& c) { c.a.rows = c.b.rows = c.a.ld = c.b.ld = 48; }, 100,
         "32-element scale blocks need a k that is a multiple of 32, this is 48"},
        {"mxfp8 with row scales", mxfp8Call, [](GemmCall& c) { c.bScaleMode = ScaleMode::OuterVec32F; }, 100,
         "mxfp8 scales with row scales: both operands must have the same kind"},

        {"bf16 bias", fp8Call, withBias, 90, ""},
        {"f32 bias with fp8", fp8Call,
         [](GemmCall& c) {
             withBias(c);
             c.biasType = DType::F32;
         },
         90, "the bias is f32, must be bf16 for e4m3 operands and a bf16 result"},
        {"bf16 bias with fp8 and f32 result", fp8Call,
         [](GemmCall& c) {
             withBias(c);
             c.d.type = DType::F32;
         },
         90, ""},
        {"bf16 bias with bf16 and f32 result", bf16Call,
         [](GemmCall& c) {
             withBias(c);
             c.d.type = DType::F32;
         },
         90, "the bias is bf16, must be f32 for bf16 operands and a f32 result"},
        {"epilogue without bias", fp8Call, [](GemmCall& c) { c.epilogue = Epilogue::Bias; }, 90,
         "the epilogue adds a bias but none is given"},
        {"bias without epilogue", fp8Call, [](GemmCall& c) { c.bias = kSomeTensor; }, 90,
         "a bias is given but the epilogue is none"},

        {"accumulating into bf16", fp8Call, [](GemmCall& c) { c.beta = 1; }, 90, ""},
        {"accumulating into fp8", fp8Call,
         [](GemmCall& c) {
             c.beta = 1;
             c.d.type = DType::E4m3;
         },
         90, "an fp8 result cannot be accumulated into (beta must be 0)"},
        {"fast accumulation in fp8", fp8Call, [](GemmCall& c) { c.fastAccumulation = true; }, 90, ""},
        {"fast accumulation in bf16", bf16Call, [](GemmCall& c) { c.fastAccumulation = true; }, 90,
         "fast accumulation is for fp8 operands only"},
    };
    return all;
}

TEST(LegalTest, CublasLtsRulesAndTheirReasons)
{
    for (const Case& row : cases()) {
        GemmCall call = row.base();
        row.change(call);
        EXPECT_EQ(refusal(call, row.computeCapability).value_or(""), row.reason) << row.what;
    }
}

}  // namespace
}  // namespace fp8scope::plan
