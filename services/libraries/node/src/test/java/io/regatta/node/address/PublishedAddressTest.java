package io.regatta.node.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PublishedAddressTest {

  private static final HostPort LOCAL = new HostPort("127.0.0.1", 5701);

  @Test
  void loopbackServesOnlyWhereEverySeedIsLocal() {
    assertThat(PublishedAddress.choose("", List.of()).address()).isEqualTo("127.0.0.1");
    assertThat(PublishedAddress.choose("", List.of(LOCAL)).address()).isEqualTo("127.0.0.1");
    assertThat(PublishedAddress.choose("", List.of(new HostPort("localhost", 1))).address()).isEqualTo("127.0.0.1");
  }

  @Test
  void when_a_name_only_begins_like_a_loopback_address_then_it_is_not_one() {
    for (String host : List.of("127.0.0.1", "127.255.0.9", "localhost", "::1")) {
      assertThat(PublishedAddress.isLoopback(host)).as(host).isTrue();
    }
    for (String host : List.of("127.example.com", "127.", "127.0.0", "127.0.0.1.example.com", "127.0.0.256",
        "128.0.0.1")) {
      assertThat(PublishedAddress.isLoopback(host)).as(host).isFalse();
    }
  }

  @Test
  void aSeedElsewhereGivesTheAddressThatRoutesToIt() throws SocketException {
    String here = outside().orElse("127.0.0.1"); // a machine may have loopback only
    // A seed on an address of this machine other than loopback: the kernel answers with that address.
    PublishedAddress chosen = PublishedAddress.choose("", List.of(LOCAL, new HostPort(here, 5701)));
    assertThat(chosen.address()).isEqualTo(here);
    assertThat(chosen.reason()).contains(outside().orElse("every seed is on this machine"));
    assertThat(PublishedAddress.isHere(new HostPort(here, 5701), 5701)).isTrue();
    // A name that nobody knows yet is taken as remote.
    List<HostPort> nobodyKnows = List.of(LOCAL, new HostPort("seed.invalid", 5701));
    if (outside().isEmpty()) {
      assertThatThrownBy(() -> PublishedAddress.choose("", nobodyKnows)).isInstanceOf(InvalidInput.class);
      return;
    }
    PublishedAddress unknown = PublishedAddress.choose("", nobodyKnows);
    assertThat(unknown.reason()).contains("seed.invalid:5701 cannot be resolved yet");
    assertThat(unknown.address()).doesNotStartWith("127.");
  }

  @Test
  void whereNoRouteTellsItIsTheFirstAddressThatOthersMayReach_andNeverLoopback() throws UnknownHostException {
    InetAddress loopback = InetAddress.getByName("127.0.0.1");
    InetAddress linkLocal = Inet6Address.getByAddress(null, InetAddress.getByName("fe80::1").getAddress(), 2);
    InetAddress six = Inet6Address.getByAddress(null, InetAddress.getByName("fd00::7").getAddress(), 2);
    InetAddress four = InetAddress.getByName("10.1.2.3");
    assertThat(PublishedAddress.first(List.of(loopback, linkLocal, six, four), "seed s:1 is not there yet").address())
        .isEqualTo("10.1.2.3");
    PublishedAddress onSix = PublishedAddress.first(List.of(loopback, linkLocal, six), "seed s:1 is not there yet");
    assertThat(onSix.address()).as("without this machine's name of the interface").isEqualTo("fd00:0:0:0:0:0:0:7");
    assertThat(onSix.reason()).contains("seed s:1 is not there yet").contains("first that is not loopback");
    assertThatThrownBy(() -> PublishedAddress.first(List.of(loopback, linkLocal), "seed s:1 is not there yet"))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("seed s:1 is not there yet")
        .hasMessageContaining("no address but loopback").hasMessageContaining("node.cluster.address");
  }

  @Test
  void loopbackIsNeverPublishedToPeersThatMeetElsewhere() throws UnknownHostException {
    InetAddress loopback = InetAddress.getByName("127.0.0.1");
    InetAddress own = InetAddress.getByName("10.1.2.3");
    InetAddress other = InetAddress.getByName("fd00::7");
    InetAddress far = InetAddress.getByName("192.0.2.9");
    List<InetAddress> all = List.of(loopback, InetAddress.getByName("fe80::1"), other, own);
    HostPort at = new HostPort("meeting", 6767);
    assertThat(PublishedAddress.decide(at, loopback, loopback, all).address()).isEqualTo("127.0.0.1");
    assertThat(PublishedAddress.decide(at, loopback, loopback, all).reason()).contains("all must be on this machine");
    assertThat(PublishedAddress.decide(at, own, loopback, all).address()).as("our own").isEqualTo("10.1.2.3");
    assertThat(PublishedAddress.decide(at, far, other, all).address()).as("as routed").isEqualTo(other.getHostAddress());
    assertThat(PublishedAddress.decide(at, far, other, all).reason()).contains("routes to meeting:6767");
    assertThat(PublishedAddress.decide(at, far, null, all).address()).as("no route").isEqualTo("10.1.2.3");
    assertThat(PublishedAddress.decide(at, far, loopback, all).address()).isEqualTo("10.1.2.3");
    assertThat(PublishedAddress.decide(at, far, null, List.of(loopback, other)).address()).isEqualTo(other.getHostAddress());
    assertThatThrownBy(() -> PublishedAddress.decide(at, far, loopback, List.of(loopback)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("no address but loopback");
  }

  @Test
  void theAddressForPeersRoutesToWhereTheyMeet_unlessOneIsConfigured() throws SocketException {
    String here = outside().orElse("127.0.0.1");
    assertThat(PublishedAddress.toward("", new HostPort(here, 6767)).address()).isEqualTo(here);
    assertThat(PublishedAddress.toward("", new HostPort("localhost", 6767)).address()).startsWith("127.");
    assertThat(PublishedAddress.toward("127.0.0.1", new HostPort(here, 6767)).address()).isEqualTo("127.0.0.1");
    assertThat(PublishedAddress.toward("", null).address()).isEqualTo("127.0.0.1");
    if (outside().isPresent()) {
      PublishedAddress early = PublishedAddress.toward("", new HostPort("nowhere.invalid", 1));
      assertThat(early.address()).isEqualTo(here);
      assertThat(early.reason()).contains("nowhere.invalid:1").contains("cannot be resolved yet");
    } else {
      assertThatThrownBy(() -> PublishedAddress.toward("", new HostPort("nowhere.invalid", 1))).isInstanceOf(InvalidInput.class);
    }
    assertThat(PublishedAddress.loopbackApart("127.0.0.1:1", "10.0.0.127:1")).isTrue();
    assertThat(PublishedAddress.loopbackApart("[fd00::1]:1", "[::1]:1")).isTrue();
    assertThat(PublishedAddress.loopbackApart("127.0.0.1:1", "localhost:2")).isFalse();
    assertThat(PublishedAddress.loopbackApart("host-a:1", "10.0.0.127:1")).isFalse();
    assertThat(PublishedAddress.loopbackApart("127.0.0.1:1", "")).isFalse();
  }

  @Test
  void anAddressOrInterfaceCanBeNamed() throws SocketException {
    String loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()).getName();
    assertThat(PublishedAddress.choose(loopback, List.of()).address()).isEqualTo("127.0.0.1");
    assertThat(PublishedAddress.choose("127.0.0.1", List.of()).address()).isEqualTo("127.0.0.1");
    assertThatThrownBy(() -> PublishedAddress.choose("192.0.2.1", List.of()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("cluster.address: 192.0.2.1");
    assertThatThrownBy(() -> PublishedAddress.choose("no-such-interface.invalid", List.of()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("names no interface");
  }

  @Test
  void aNodeIsItsOwnSeedOnlyWithThatPort() {
    assertThat(PublishedAddress.isHere(LOCAL, 5701)).isTrue();
    assertThat(PublishedAddress.isHere(LOCAL, 5702)).isFalse();
    assertThat(PublishedAddress.isHere(LOCAL, 0)).isFalse();
    assertThat(PublishedAddress.isHere(new HostPort("192.0.2.1", 5701), 5701)).isFalse();
  }

  @Test
  void endpointsAreReadWithPortsAndBrackets() {
    assertThat(HostPort.parse("a.b:80", "k")).isEqualTo(new HostPort("a.b", 80));
    assertThat(HostPort.parse("[::1]:80", "k")).isEqualTo(new HostPort("::1", 80));
    assertThat(HostPort.parse("[::1]:80", "k")).hasToString("[::1]:80");
    for (String bad : List.of("", ":80", "a:", "a:x", "a:0", "a:65536", "a b:1", "a", " ", "a:b:c", "::1", "[::1]", "http://a:1")) {
      assertThatThrownBy(() -> HostPort.parse(bad, "seeds")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("seeds: expected host:port");
    }
  }

  private static Optional<String> outside() throws SocketException {
    return Collections.list(NetworkInterface.getNetworkInterfaces()).stream()
        .flatMap(each -> Collections.list(each.getInetAddresses()).stream())
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .map(InetAddress::getHostAddress).findFirst();
  }
}
