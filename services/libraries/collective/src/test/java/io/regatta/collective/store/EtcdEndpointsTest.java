package io.regatta.collective.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdEndpointsTest {
  @Test
  void membersAndPrefixAreRead() {
    String text = "etcd:127.0.0.1:2379,[fd00::2]:2380,etcd.example.org:2379/regatta/jobs";
    EtcdEndpoints etcd = EtcdEndpoints.parse(text, "store");
    assertThat(etcd.members()).containsExactly(new HostPort("127.0.0.1", 2379), new HostPort("fd00::2", 2380),
        new HostPort("etcd.example.org", 2379));
    assertThat(etcd.prefix()).isEqualTo("regatta/jobs");
    assertThat(etcd).hasToString(text);
    assertThat(etcd.remote()).isEqualTo(new HostPort("fd00::2", 2380));
    assertThat(EtcdEndpoints.parse("etcd:localhost:1/p", "store").remote()).isEqualTo(new HostPort("localhost", 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"etcd:", "etcd:/p", "etcd:a/p", "etcd:a:1", "etcd:a:1/", "etcd:a:1//p", "etcd:a:1/p/",
      "etcd:a:1,/p", "etcd:a:1,b/p", "etcd:a:70000/p", "etcd://a:1/p"})
  void otherTextsAreRefusedInOneLineThatNamesTheKey(String text) {
    assertThatThrownBy(() -> EtcdEndpoints.parse(text, "collective: store")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("collective: store").hasMessageNotContaining("\n");
  }

  @Test
  void endpointsAndPrefixAreNotEmpty() {
    assertThatThrownBy(() -> new EtcdEndpoints(List.of(), "p")).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> new EtcdEndpoints(List.of(new HostPort("a", 1)), "")).isInstanceOf(InvalidInput.class);
  }
}
