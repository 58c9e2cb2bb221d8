// Dumbbell of N NewReno flows for ns-3, as described in docs/developers/performance.md ("Other simulators").
// With SACK, since its NewReno without SACK uses two thirds of the link. Usage: dumbbell FLOWS SECONDS. Prints packet-hops, the utilisation of the second half, and the CPU seconds of the run.
#include <cmath>
#include <ctime>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

struct Counts {
    uint64_t packets = 0;
    uint64_t bytes = 0;
    uint64_t drops = 0;
};

double Frac(double value) { return value - std::floor(value); }

void OnSent(Counts* counts, Ptr<const Packet> packet) {
    ++counts->packets;
    counts->bytes += packet->GetSize();
}

void OnDropped(Counts* counts, Ptr<const Packet>) { ++counts->drops; }

}  // namespace

int main(int, char* arguments[]) {
    const uint32_t flows = std::stoul(arguments[1]);
    const double seconds = std::stod(arguments[2]);
    const double rate = flows * 1e7;
    const auto buffer = static_cast<uint32_t>(rate * 0.1 / 12000 / 10);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(250)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(64 * 1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));

    NodeContainer routers(2);
    NodeContainer sources(flows);
    NodeContainer sinks(flows);
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.Install(routers);
    stack.Install(sources);
    stack.Install(sinks);

    PointToPointHelper link;
    // Queues of devices alone; the traffic-control layer stays empty.
    const auto connect = [&](Ptr<Node> a, Ptr<Node> b, double bps, double ms, uint32_t packets) {
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(ms * 1000)));
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(std::to_string(packets) + "p"));
        return link.Install(a, b);
    };
    Ipv4AddressHelper addresses;
    const auto address = [&](const NetDeviceContainer& devices, const std::string& network) {
        addresses.SetBase(network.c_str(), "255.255.255.252");
        const auto assigned = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        return assigned;
    };
    const auto network = [](uint32_t side, uint32_t flow) {
        return "10." + std::to_string(side) + "." + std::to_string(flow / 64) + "." + std::to_string(flow % 64 * 4);
    };

    const auto middle = connect(routers.Get(0), routers.Get(1), rate, 48, buffer);
    address(middle, "10.0.0.0");
    routing.GetStaticRouting(routers.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("10.2.0.0", "255.255.0.0", "10.0.0.2", 1);
    routing.GetStaticRouting(routers.Get(1)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("10.1.0.0", "255.255.0.0", "10.0.0.1", 1);
    for (uint32_t flow = 0; flow < flows; ++flow) {
        const auto left =
            connect(sources.Get(flow), routers.Get(0), 10 * rate, 0.5 + Frac(flow * 0.7549), 10000);
        const auto right = connect(routers.Get(1), sinks.Get(flow), 10 * rate, 1, 10000);
        const auto at_source = address(left, network(1, flow));
        const auto at_sink = address(right, network(2, flow));
        routing.GetStaticRouting(sources.Get(flow)->GetObject<Ipv4>())->SetDefaultRoute(at_source.GetAddress(1), 1);
        routing.GetStaticRouting(sinks.Get(flow)->GetObject<Ipv4>())->SetDefaultRoute(at_sink.GetAddress(0), 1);
        PacketSinkHelper receive("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        receive.Install(sinks.Get(flow));
        BulkSendHelper send("ns3::TcpSocketFactory", InetSocketAddress(at_sink.GetAddress(1), 9));
        send.SetAttribute("SendSize", UintegerValue(1448));
        send.Install(sources.Get(flow)).Start(Seconds(Frac(flow * 0.6180)));
    }

    Counts forth, back;
    middle.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&OnSent, &forth));
    middle.Get(1)->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&OnSent, &back));
    DynamicCast<PointToPointNetDevice>(middle.Get(0))
        ->GetQueue()
        ->TraceConnectWithoutContext("Drop", MakeBoundCallback(&OnDropped, &forth));
    uint64_t half = 0;
    Simulator::Schedule(Seconds(seconds / 2), [&] { half = forth.bytes; });
    Simulator::Stop(Seconds(seconds));
    const std::clock_t before = std::clock();
    Simulator::Run();
    const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    const uint64_t hops = 3 * forth.packets + forth.drops + 3 * back.packets;
    std::cout << hops << ' ' << (forth.bytes - half) * 8 / (rate * seconds / 2) << ' ' << cpu << '\n';
    Simulator::Destroy();
    return 0;
}
