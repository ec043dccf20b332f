package io.regatta.protocol.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.connection.OpenConnections.Arrival;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenConnectionsTest {

  private static InetAddress address(String digits) throws Exception {
    return InetAddress.getByName(digits);
  }

  @ParameterizedTest
  @CsvSource({"2001:db8:1:2:3:4:5:6, 2001:db8:1:2:0:0:0:0", "2001:db8:1:2::, 2001:db8:1:2:0:0:0:0",
      "::1, 0:0:0:0:0:0:0:1", "10.1.2.3, 10.1.2.3", "::ffff:10.1.2.3, 10.1.2.3", "fe80::5, fe80:0:0:0:0:0:0:0"})
  void anOriginIsAnIpv4AddressOrTheFirst64BitsOfAnIpv6Address(String of, String origin) throws Exception {
    assertThat(PeerOrigin.of(address(of)).getHostAddress()).isEqualTo(origin);
    assertThat(PeerOrigin.of(SocketAddress.inetSocketAddress(1, of))).isEqualTo(origin);
  }

  @ParameterizedTest
  @CsvSource({"2001:db8:1:2:3:4:5:6, 2001:db8:1:2:0:0:0:0/64", "::1, 0:0:0:0:0:0:0:1", "10.1.2.3, 10.1.2.3"})
  void aLineShowsAnOriginAsItIsCounted(String of, String shown) throws Exception {
    assertThat(PeerOrigin.described(address(of))).isEqualTo(shown);
  }

  @Test
  void aUnixDomainSocketHasNoOrigin() {
    assertThat(PeerOrigin.of(SocketAddress.domainSocketAddress("/run/a"))).isEmpty();
    assertThat(PeerOrigin.of((SocketAddress) null)).isEmpty();
  }

  /** Each connection of the attacker has another address, and keeps only its like out. */
  @Test
  void theAddressesOfOneIpv6NetworkCountTogether() throws Exception {
    OpenConnections<Object> open = new OpenConnections<>(1000, address -> 10, 1000);
    List<Object> strangers = new ArrayList<>();
    Object job = new Object();
    open.arrive(job, address("2001:db8:0:1::1"));
    for (int i = 0; i < 100; i++) {
      Object stranger = new Object();
      Arrival<Object> arrival = open.arrive(stranger, address("2001:db8:0:2::" + Integer.toHexString(i)));
      assertThat(arrival.accepted()).isTrue();
      assertThat(arrival.evicted()).isSameAs(i < 10 ? null : strangers.get(i - 10));
      assertThat(arrival.originIsFull()).isEqualTo(i >= 10);
      strangers.add(stranger);
    }
    assertThat(open.arrive(new Object(), address("2001:db8:0:1::2")))
        .isEqualTo(new Arrival<>(true, null, 1, 11, false));
  }

  @Test
  void theOldestWithoutAuthenticationMakesRoom_andIfThereIsNoneTheNewOneIsRefused() throws Exception {
    OpenConnections<String> open = new OpenConnections<>(4, address -> 3, 2);
    assertThat(open.arrive("a", address("10.0.0.1")).evicted()).isNull();
    assertThat(open.arrive("b", address("10.0.0.1")).evicted()).isNull();
    assertThat(open.arrive("c", null).evicted()).isEqualTo("a");
    open.forget("a");
    open.authenticated("b");
    open.authenticated("c");
    open.arrive("d", address("10.0.0.1"));
    open.arrive("e", address("10.0.0.1"));
    assertThat(open.arrive("f", address("10.0.0.1"))).isEqualTo(new Arrival<>(true, "d", 3, 4, true));
    open.authenticated("e");
    open.authenticated("f");
    assertThat(open.arrive("g", address("10.0.0.1"))).isEqualTo(new Arrival<>(false, null, 3, 4, true));
    assertThat(open.arrive("h", address("10.0.0.2"))).isEqualTo(new Arrival<>(false, null, 0, 4, false));
    open.forget("c");
    assertThat(open.arrive("h", address("10.0.0.2")).accepted()).isTrue();
  }

  @Test
  void oneThatAuthenticatesBeforeItIsClosedStaysAndCountsAgain() throws Exception {
    OpenConnections<String> open = new OpenConnections<>(1, address -> 1, 1);
    InetAddress address = address("10.0.0.1");
    open.arrive("a", address);
    assertThat(open.arrive("b", address).evicted()).isEqualTo("a");
    open.authenticated("a");
    open.authenticated("b");
    assertThat(open.arrive("c", address)).isEqualTo(new Arrival<>(false, null, 2, 2, true));
    open.forget("a");
    open.forget("b");
    open.authenticated("b"); // too late
    open.forget("b");
    assertThat(open.arrive("c", address)).isEqualTo(new Arrival<>(true, null, 0, 0, false));
  }
}
