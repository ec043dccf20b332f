package io.regatta.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** The note on proxies. */
class ProxiesTest {

  @Test
  void those_that_are_set_are_named() {
    assertThat(Proxies.note(Map.of("http_proxy", "http://proxy:3128", "HOME", "/root"))).contains(
        "http_proxy is set: no proxy is used for data");
    assertThat(Proxies.note(Map.of("ALL_PROXY", "socks5://proxy", "https_proxy", "http://proxy:3128"))).contains(
        "https_proxy, ALL_PROXY are set: no proxy is used for data");
    assertThat(Proxies.note(Map.of("http_proxy", " ", "no_proxy", "localhost"))).isEmpty();
  }
}
