// Queue disciplines of ns-3, for queue_ns3.py, which describes the recordings.
// usage: queue_ns3 cbr   <type of discipline> <name=value,...> <seconds>
//                        <first ns,every ns,bytes,ECN field[,from s,until s]>...
//        queue_ns3 red   <name=value,...> <bit/s> < arrivals: nanoseconds and bytes, a line each
//        queue_ns3 dctcp <flows> <bit/s> <round trip in us> <threshold in packets> <seconds> <sample in us> <warm s>
// cbr and red have no network: a discipline, and a link that takes a packet whenever the previous one has been sent.
// Lines of cbr: "a <number> <ns> <source>" arrives; "d <number> <ns> <reason>" is dropped; "m <number> <ns>" is
//   marked; "q <number> <ns>" leaves the queue; "p <ns> <probability> <delay in ns>" is PIE after an update;
//   "c <ns> <count>" is CoDel's count after a drop; "s <ns> <packets>" is the queue's length.
// Lines of red: "<waiting packets> <average> <probability with the count> <maximum probability> <decision>".
// Lines of dctcp: "s <packets in the queue>", "w <window in segments of the first flow> <its alpha>", and last
//   "t <bytes received> <marks> <drops> <seconds>".
// Private members of PieQueueDisc and RedQueueDisc are read directly, because ns-3 does not trace all of them.
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#define private public
#define protected public
#include "ns3/codel-queue-disc.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/red-queue-disc.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-socket-base.h"
#undef private
#undef protected
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{
Ptr<QueueDisc> disc;
std::unordered_map<uint64_t, uint64_t> numbers;
uint64_t next = 0;
bool busy = false, quiet = false;
double rate = 10e6;

int64_t
Now()
{
    return Simulator::Now().GetNanoSeconds();
}

Ptr<QueueDisc>
Make(const std::string& type, const std::string& settings)
{
    ObjectFactory factory;
    factory.SetTypeId("ns3::" + type);
    std::stringstream words(settings);
    std::string word;
    while (std::getline(words, word, ','))
    {
        auto at = word.find('=');
        if (at != std::string::npos && word.substr(0, at) != "Quantum")
        {
            factory.Set(word.substr(0, at), StringValue(word.substr(at + 1)));
        }
    }
    auto made = factory.Create<QueueDisc>();
    // It is not an attribute there, and would be the MTU of a device.
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(made))
    {
        fair->SetQuantum(std::stoi(settings.substr(settings.find("Quantum=") + 8)));
    }
    // All attributes with their values.
    for (TypeId id = TypeId::LookupByName("ns3::" + type); id != QueueDisc::GetTypeId(); id = id.GetParent())
    {
        for (std::size_t k = 0; k < id.GetAttributeN(); ++k)
        {
            StringValue value;
            if (!made->GetAttributeFailSafe(id.GetAttribute(k).name, value))
            {
                continue;
            }
            std::cout << "attribute " << id.GetAttribute(k).name << " " << value.Get() << "\n";
        }
    }
    StringValue size;
    made->GetAttribute("MaxSize", size);
    std::cout << "attribute MaxSize " << size.Get() << "\n";
    made->Initialize();
    return made;
}

uint64_t
Number(Ptr<const QueueDiscItem> item)
{
    return numbers.at(item->GetPacket()->GetUid());
}

void
Link()
{
    Ptr<QueueDiscItem> item = disc->Dequeue();
    busy = bool(item);
    if (busy)
    {
        if (!quiet)
        {
            std::cout << "q " << Number(item) << " " << Now() << "\n";
        }
        Simulator::Schedule(NanoSeconds(std::llround(item->GetSize() * 8e9 / rate)), &Link);
    }
}

std::string fate;

Ptr<QueueDiscItem>
Item(int source, int size, int ecn)
{
    auto packet = Create<Packet>(size - 28);
    numbers[packet->GetUid()] = next;
    UdpHeader udp;
    udp.SetSourcePort(8000 + source);
    udp.SetDestinationPort(9000 + source);
    packet->AddHeader(udp);
    Ipv4Header header;
    header.SetSource("10.0.0.1");
    header.SetDestination("10.1.0.1");
    header.SetProtocol(17);
    header.SetPayloadSize(size - 20);
    header.SetEcn(Ipv4Header::EcnType(ecn));
    return Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header);
}

void
Arrive(int source, int size, int ecn)
{
    auto item = Item(source, size, ecn);
    if (!quiet)
    {
        std::cout << "a " << next << " " << Now() << " " << source << "\n";
    }
    ++next;
    disc->Enqueue(item);
    if (!busy)
    {
        Link();
    }
}

void
Dropped(Ptr<const QueueDiscItem> item, const char* reason)
{
    fate = reason;
    if (!quiet)
    {
        std::cout << "d " << Number(item) << " " << Now() << " " << reason << "\n";
        if (auto codel = DynamicCast<CoDelQueueDisc>(disc))
        {
            // The discipline counts this drop after the callback.
            Simulator::ScheduleNow([codel]() { std::cout << "c " << Now() << " " << codel->m_count.Get() << "\n"; });
        }
    }
}

void
Marked(Ptr<const QueueDiscItem> item, const char* reason)
{
    fate = reason;
    if (!quiet)
    {
        std::cout << "m " << Number(item) << " " << Now() << "\n";
    }
}

void
Watch()
{
    disc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Dropped));
    disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Dropped));
    disc->TraceConnectWithoutContext("Mark", MakeCallback(&Marked));
}

void
Updated(Ptr<PieQueueDisc> pie)
{
    std::cout << "p " << Now() << " " << pie->m_dropProb << " " << pie->m_qDelay.GetNanoSeconds() << "\n";
    Simulator::Schedule(pie->m_tUpdate, &Updated, pie);
}

void
Length()
{
    std::cout << "s " << Now() << " " << disc->GetNPackets() << "\n";
    Simulator::Schedule(MilliSeconds(100), &Length);
}

int
Cbr(const std::vector<std::string>& words)
{
    disc = Make(words[0], words[1]);
    Watch();
    double until = std::stod(words[2]);
    for (std::size_t k = 3; k < words.size(); ++k)
    {
        std::stringstream numbers_of(words[k]);
        std::vector<double> number;
        std::string word;
        while (std::getline(numbers_of, word, ','))
        {
            number.push_back(std::stod(word));
        }
        int source = k - 3, size = number[2], ecn = number[3];
        double stop = number.size() > 5 ? number[5] : until;
        if (!source)
        {
            for (int packet = 0; packet < 3; ++packet)
            {
                Simulator::Schedule(Time(0), &Arrive, source, size, ecn);
            }
        }
        for (double at = number[0] + (number.size() > 4 ? number[4] * 1e9 : 0); at < stop * 1e9; at += number[1])
        {
            Simulator::Schedule(NanoSeconds(std::llround(at)), &Arrive, source, size, ecn);
        }
    }
    if (auto pie = DynamicCast<PieQueueDisc>(disc))
    {
        // Runs after the update of the same time, which was scheduled first.
        Simulator::Schedule(Time(0), &Updated, pie);
    }
    Simulator::Schedule(MilliSeconds(100), &Length);
    Simulator::Stop(Seconds(until + 3));
    Simulator::Run();
    return 0;
}

void
AskRed(int size)
{
    auto red = DynamicCast<RedQueueDisc>(disc);
    auto waiting = disc->GetNPackets();
    fate = "-";
    Arrive(0, size, 2);
    for (auto& letter : fate)
    {
        letter = letter == ' ' ? '_' : letter;
    }
    std::cout << waiting << " " << red->m_qAvg << " " << red->m_vProb << " " << red->m_curMaxP << " " << fate << "\n";
}

int
Red(const std::vector<std::string>& words)
{
    disc = Make("RedQueueDisc", words[0]);
    rate = std::stod(words[1]);
    Watch();
    quiet = true;
    int64_t at;
    int size;
    while (std::cin >> at >> size)
    {
        Simulator::Schedule(NanoSeconds(at), &AskRed, size);
    }
    Simulator::Run();
    return 0;
}

uint64_t marks = 0, drops = 0, marks_then = 0, drops_then = 0, bytes_then = 0;
Ptr<TcpSocketBase> first;
uint32_t segment = 1448;

int
Dctcp(const std::vector<std::string>& words)
{
    int flows = std::stoi(words[0]);
    double bps = std::stod(words[1]), rtt_us = std::stod(words[2]), until = std::stod(words[4]);
    double sample_us = std::stod(words[5]), warm = std::stod(words[6]);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    NodeContainer senders, middle, receiver;
    senders.Create(flows);
    middle.Create(1);
    receiver.Create(1);
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(middle);
    stack.Install(receiver);
    PointToPointHelper fast, slow;
    fast.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(10 * bps))));
    fast.SetChannelAttribute("Delay", TimeValue(NanoSeconds(std::llround(rtt_us * 250))));
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(bps))));
    slow.SetChannelAttribute("Delay", TimeValue(NanoSeconds(std::llround(rtt_us * 250))));
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    NetDeviceContainer bottleneck = slow.Install(middle.Get(0), receiver.Get(0));
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(std::stod(words[3])), "MaxTh",
                             DoubleValue(std::stod(words[3])), "QW", DoubleValue(1), "UseEcn", BooleanValue(true),
                             "UseHardDrop", BooleanValue(false), "Gentle", BooleanValue(false), "MaxSize",
                             StringValue("10000p"), "MeanPktSize", UintegerValue(1500), "LinkBandwidth",
                             DataRateValue(DataRate(uint64_t(bps))));
    disc = control.Install(bottleneck.Get(0)).Get(0);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    auto ends = addresses.Assign(bottleneck);
    Ipv4AddressHelper others("10.2.0.0", "255.255.255.0");
    for (int k = 0; k < flows; ++k)
    {
        others.Assign(fast.Install(senders.Get(k), middle.Get(0)));
        others.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9000));
    auto sink = sinks.Install(receiver.Get(0));
    for (int k = 0; k < flows; ++k)
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 9000));
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        auto sender = bulk.Install(senders.Get(k));
        sender.Start(NanoSeconds(std::llround(k * rtt_us * 7300)));
        if (!k)
        {
            auto application = DynamicCast<BulkSendApplication>(sender.Get(0));
            Simulator::Schedule(NanoSeconds(10), [application]() {
                first = DynamicCast<TcpSocketBase>(application->GetSocket());
            });
        }
    }
    using Marking = Callback<void, Ptr<const QueueDiscItem>, const char*>;
    using Dropping = Callback<void, Ptr<const QueueDiscItem>>;
    disc->TraceConnectWithoutContext("Mark", Marking([](auto, auto) { ++marks; }));
    disc->TraceConnectWithoutContext("Drop", Dropping([](auto) { ++drops; }));
    auto received = DynamicCast<PacketSink>(sink.Get(0));
    std::function<void()> sample = [&]() {
        std::cout << "s " << disc->GetNPackets() << "\n";
        Simulator::Schedule(NanoSeconds(std::llround(sample_us * 1000)), sample);
    };
    std::function<void()> window = [&]() {
        auto dctcp = DynamicCast<TcpDctcp>(first->m_congestionControl);
        std::cout << "w " << first->m_tcb->m_cWnd.Get() / double(segment) << " " << dctcp->m_alpha << "\n";
        Simulator::Schedule(NanoSeconds(std::llround(rtt_us * 500)), window);
    };
    Simulator::Schedule(Seconds(warm), [&]() {
        marks_then = marks;
        drops_then = drops;
        bytes_then = received->GetTotalRx();
        sample();
        window();
    });
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    std::cout << "t " << received->GetTotalRx() - bytes_then << " " << marks - marks_then << " "
              << drops - drops_then << " " << until - warm << "\n";
    return 0;
}
} // namespace

int
main(int count, char** words)
{
    std::cout.precision(12);
    std::vector<std::string> rest(words + std::min(2, count), words + count);
    std::string world = count > 1 ? words[1] : "";
    return world == "cbr" ? Cbr(rest) : world == "red" ? Red(rest) : world == "dctcp" ? Dctcp(rest) : 2;
}
