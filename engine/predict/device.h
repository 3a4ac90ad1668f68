// SPDX-License-Identifier: Apache-2.0
// A device to predict for: what its data sheet says, and the constants that measurements gave.
#pragma once

#include "engine/predict/constants.h"
#include "engine/predict/gemm_model.h"
#include "engine/predict/op_model.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::predict {

/// From resources/devices.toml. Rates are FLOP/s and bytes/s, dense (no sparsity).
struct DeviceSpec {
    std::string id;             ///< "h100-sxm"
    std::string name;           ///< "NVIDIA H100 SXM 80 GB"
    int computeCapability = 0;  ///< 90; 0 for a CPU
    double sms = 0;             ///< or cores
    double boostMhz = 0;
    double peak16 = 0, peakFp8 = 0, peakMxfp8 = 0;  ///< 0: the device has no such arithmetic
    double bandwidth = 0, l2Bytes = 0, memoryBytes = 0, powerW = 0;
    std::string source;
    std::vector<std::string> unverified;  ///< keys whose values no stored source confirms; shown as such
    std::string constantsFrom;  ///< the device whose fitted constants hold here too, scaled by the specification
    [[nodiscard]] bool isCpu() const { return computeCapability == 0; }
};

/// How far predictions were from measurements that the fit had not seen.
struct FitError {
    std::string what;       ///< "bf16", "tensorwise", ...
    std::string sizeClass;  ///< "all", or a range of GEMM sizes: "1-10 GFLOP"
    double median = 0, p90 = 0;
    int rows = 0;
    double noiseMedian = 0,
           noiseP90 = 0;  ///< half the difference between two frameworks' times of equal shapes; 0: none
};

/// Cost of submitting one kernel from the host.
struct HostConstants {
    double engineLaunchUs = 3.5;  ///< this engine's C++ launches
    double eagerLaunchUs = 8;     ///< an eager PyTorch op
    double compiledCallUs = 400;  ///< forward and backward of one torch.compiled module: guards, autograd, launches
    double graphLaunchUs = 2.5;   ///< a whole CUDA graph, once a step
    double graphNodeUs = 0.6;     ///< between two kernels of a graph, on the device
};

struct DeviceModel {
    DeviceSpec spec;
    std::array<std::optional<GemmConstants>, kGemmKinds> gemm;
    std::array<std::optional<QuantizerConstants>, kQuantizerKinds> quantizer;
    std::map<std::string, OpConstants> ops;  ///< of a device whose ops were measured kind by kind; used before the rest
    HostConstants host;
    std::vector<FitError> errors;
    bool extrapolated = false;  ///< constants are another device's
    std::string provenance;     ///< "fitted to 2,448 measured GEMMs", "extrapolated from NVIDIA H100 SXM", ...

    [[nodiscard]] bool supports(GemmKind) const;
    /// Throws Error when the device has no such GEMM ("A100 has no fp8").
    [[nodiscard]] const GemmConstants& constantsOf(GemmKind) const;
    [[nodiscard]] const QuantizerConstants& constantsOf(QuantizerKind) const;
    [[nodiscard]] GemmMachine machine(GemmKind) const;
};

/// Devices in the table's order: the built-in ones, then those of users' files, which may replace built-in ones.
class DeviceTable {
public:
    /// Reads the specification and, if not empty, fitted constants. `source` names the text in errors.
    void add(std::string_view toml, std::string_view source);
    /// Gives devices without constants of their own those of `constantsFrom`. Call after the last add().
    void resolve();

    [[nodiscard]] const std::vector<DeviceModel>& devices() const { return m_devices; }
    /// By id. Throws Error with the nearest id and the list.
    [[nodiscard]] const DeviceModel& find(std::string_view id) const;

private:
    [[nodiscard]] DeviceModel* lookUp(std::string_view id);
    std::vector<DeviceModel> m_devices;
};

/// The table built into the program.
[[nodiscard]] DeviceTable builtInDevices();

}  // namespace fp8scope::predict
