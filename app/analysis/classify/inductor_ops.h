// SPDX-License-Identifier: Apache-2.0
// PyTorch's ops whose names contain underscores, so that the words of a fused name can be joined again. All others are
// one word. "clamp_max" is left out: names list "clamp" and "max" of an amax next to each other.
#pragma once

#include <string_view>

namespace fp8scope::analysis {

/// Separated by spaces.
inline constexpr std::string_view kJoinedOps =
    "_to_copy _scaled_mm _scaled_grouped_mm _grouped_mm _int_mm _unsafe_view _unsafe_index "
    "_unsafe_index_put _fused_rms_norm _fused_rms_norm_backward _softmax _log_softmax "
    "_softmax_backward_data _log_softmax_backward_data _native_batch_norm_legit "
    "_native_batch_norm_legit_functional _native_batch_norm_legit_no_training _adaptive_avg_pool2d "
    "_adaptive_avg_pool2d_backward _scaled_dot_product_flash_attention "
    "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward "
    "_scaled_dot_product_cudnn_attention_backward _weight_norm_interface _cdist_forward _reshape_alias "
    "_prelu_kernel _foreach_add _foreach_mul _foreach_div _foreach_lerp _foreach_sqrt _foreach_addcdiv "
    "_foreach_addcmul _foreach_copy _foreach_pow _foreach_norm _fused_adam _fused_adamw _fused_dropout "
    "_embedding_bag _c10d_functional native_layer_norm native_layer_norm_backward native_group_norm "
    "native_group_norm_backward native_batch_norm native_batch_norm_backward native_dropout "
    "native_dropout_backward layer_norm rms_norm group_norm batch_norm nll_loss_forward "
    "nll_loss_backward nll_loss cross_entropy cross_entropy_loss mse_loss mse_loss_backward "
    "binary_cross_entropy binary_cross_entropy_with_logits smooth_l1_loss huber_loss kl_div "
    "soft_margin_loss log_softmax embedding_dense_backward embedding_backward threshold_backward "
    "silu_backward gelu_backward sigmoid_backward tanh_backward elu_backward leaky_relu "
    "leaky_relu_backward hardtanh_backward hardswish_backward hardsigmoid_backward softplus_backward "
    "log_sigmoid log_sigmoid_forward log_sigmoid_backward mish_backward glu_backward select_backward "
    "slice_backward select_scatter slice_scatter as_strided as_strided_scatter diagonal_copy index_put "
    "index_put_ index_select index_add index_copy index_fill masked_fill masked_scatter masked_select "
    "scatter_add scatter_reduce gather_backward scaled_dot_product_attention flex_attention "
    "flex_attention_backward clamp_min new_ones new_zeros new_full new_empty full_like zeros_like "
    "ones_like empty_like rand_like randn_like bernoulli_ var_mean bitwise_and bitwise_or bitwise_not "
    "bitwise_xor logical_and logical_or logical_not constant_pad_nd constant_pad reflection_pad2d "
    "max_pool2d max_pool2d_with_indices avg_pool2d max_pool2d_with_indices_backward avg_pool2d_backward "
    "upsample_nearest2d upsample_bilinear2d mm_plus_mm mixed_mm convolution_backward "
    "convert_element_type inductor_random inductor_seeds inductor_lookup_seed inductor_randint copy_ "
    "add_ mul_ sub_ div_ split_with_sizes unsafe_split expand_as view_as view_as_complex view_as_real "
    "floor_divide true_divide all_gather_into_tensor reduce_scatter_tensor wait_tensor "
    "dynamic_per_token_scaled_fp8_quant dynamic_scaled_fp8_quant static_scaled_fp8_quant "
    "per_token_group_fp8_quant per_token_group_quant_fp8 scaled_fp4_quant moe_forward moe_forward_shared "
    "unified_attention unified_attention_with_output rms_norm_static_fp8_quant rotary_embedding "
    "silu_and_mul gelu_and_mul fused_add_rms_norm repeat_interleave tril_indices nan_to_num ";

}  // namespace fp8scope::analysis
