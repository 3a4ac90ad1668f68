// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute/node_gradients.h"

#include "app/analysis/attribute/layer_ops.h"
#include "app/analysis/slice_families.h"

#include <vector>

namespace fp8scope::analysis {
namespace {

/// An autograd node of a framework's own: such names begin with an underscore.
bool isOwnNode(const TraceOp& op)
{
    return op.phase == Phase::Dgrad && op.m == 0 && op.name.starts_with('_') &&
           op.name.find("Backward") != std::string::npos;
}

class GradientSplitter {
public:
    GradientSplitter(Trace& trace, RunId run) : m_trace(trace), m_families(trace), m_ops(trace, run) {}

    void split(SliceColumns& slices)
    {
        OpId node;
        std::vector<std::size_t> products;
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const OpId op = slices.op[i];
            if (op != node) {
                close(slices, node, products);
                node = op.valid() && isOwnNode(m_trace.op(op)) ? op : OpId::none();
            }
            if (node.valid() && m_families.of(slices, i).role == Role::Gemm)
                products.push_back(i);
        }
        close(slices, node, products);
    }

private:
    void close(SliceColumns& slices, OpId node, std::vector<std::size_t>& products)
    {
        const bool grouped = node.valid() && m_trace.op(node).name.find("Grouped") != std::string::npos;
        for (std::size_t p = 0; products.size() % 2 == 0 && p < products.size(); ++p) {
            const bool isWgrad = grouped ? p >= products.size() / 2 : p % 2 == 1;
            if (isWgrad)
                slices.op[products[p]] = m_ops.withPhase(node, Phase::Wgrad);
        }
        products.clear();
    }

    Trace& m_trace;
    SliceFamilies m_families;  ///< of the ops as they were: new ones are looked at no more
    LayerOps m_ops;
};

}  // namespace

void splitNodeGradients(Trace& trace, RunId run)
{
    GradientSplitter splitter(trace, run);
    for (Track& track : trace.tracks) {
        if (track.run == run && track.kind == TrackKind::DeviceQueue)
            splitter.split(track.slices);
    }
}

}  // namespace fp8scope::analysis
