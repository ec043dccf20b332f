package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.store.EtcdEndpoints;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeetingStoreTest {
  @Test
  void aTextOfEachFormNamesItsKind() {
    for (MeetingStore.Kind kind : MeetingStore.Kind.values()) {
      String text = kind.form().replace("[,HOST:PORT...]", "").replace("HOST:PORT", "10.0.0.1:80").replace("PREFIX", "jobs");
      assertThat(MeetingStore.parse(text).kind()).isEqualTo(kind);
    }
    for (String none : List.of("", "file:", "http://", "etcd:", "Service", "hazelcast:", "FILE:/tmp")) {
      assertThatThrownBy(() -> MeetingStore.parse(none)).isInstanceOf(InvalidInput.class)
          .hasMessage("collective: store is '" + none + "'; give one of service, file:DIRECTORY, http://HOST:PORT, "
              + "etcd:HOST:PORT[,HOST:PORT...]/PREFIX, hazelcast");
    }
  }

  @Test
  void aStoreInEtcdIsNamedByItsMembersAndPrefix() {
    String text = "etcd:10.0.0.1:2379,10.0.0.2:2379/regatta";
    MeetingStore etcd = MeetingStore.parse(text);
    assertThat(etcd.kind()).isEqualTo(MeetingStore.Kind.ETCD);
    assertThat(etcd.etcd()).isEqualTo(EtcdEndpoints.parse(text, "")).hasToString(text);
    assertThatThrownBy(() -> MeetingStore.parse("etcd:10.0.0.1:2379")).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith("collective: store is 'etcd:10.0.0.1:2379'; give etcd:HOST:PORT");
    assertThatThrownBy(() -> MeetingStore.parse("zookeeper")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("etcd:HOST:PORT[,HOST:PORT...]/PREFIX");
  }
}
