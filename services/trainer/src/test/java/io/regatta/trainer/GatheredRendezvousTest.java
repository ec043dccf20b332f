package io.regatta.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.Membership;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.gather.PeerEndpoint;
import java.util.List;
import org.junit.jupiter.api.Test;

class GatheredRendezvousTest {

  @Test
  void allFormTheHighestGenerationThatTheyHaveTold() {
    Membership place = GatheredRendezvous.place(1, "job", 2, "trainer 1",
        List.of(peer(7, "10.0.0.1:4000", "10.0.0.9:1"), peer(8, "10.0.0.2:4000")));
    assertThat(place).isEqualTo(new Membership("job", 8, 1, List.of("10.0.0.1:4000", "10.0.0.2:4000"), List.of("10.0.0.9:1")));
    assertThatThrownBy(() -> GatheredRendezvous.place(0, "job", 2, "trainer 0", List.of(peer(7, "10.0.0.1:4000"))))
        .isInstanceOf(PeerLost.class).hasMessageContaining("only 1 of 2 trainers");
  }

  @Test
  void oneOnLoopbackAmongOthersWhoAreNotIsRefused() {
    assertThatThrownBy(() -> GatheredRendezvous.place(0, "job", 3, "trainer 0",
        List.of(peer(7, "10.0.0.1:4000"), peer(7, "10.0.0.2:4000"), peer(7, "127.0.0.1:4000")))).isInstanceOf(Conflict.class)
        .hasMessageContaining("trainer 2 127.0.0.1:4000").hasMessageContaining("node.cluster.address");
    assertThat(GatheredRendezvous.place(0, "job", 2, "trainer 0", List.of(peer(7, "127.0.0.1:1"), peer(7, "localhost:2"))).worldSize())
        .isEqualTo(2);
  }

  private static PeerEndpoint peer(long generation, String endpoint, String... aggregators) {
    return PeerEndpoint.newBuilder().setGeneration(generation).setEndpoint(endpoint).addAllAggregators(List.of(aggregators)).build();
  }
}
