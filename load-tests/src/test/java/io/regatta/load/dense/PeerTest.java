package io.regatta.load.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind moves all bits and applies them: the weights are those of the closed form of SGD. */
class PeerTest {

  static List<String> kinds() {
    return Peers.names().stream().filter(kind -> !kind.equals(Peers.MEMCPY)).toList();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void pushes_are_applied_whole_and_in_place(String kind) throws Exception {
    DenseTask task = new DenseTask(1_000_003, 64 << 10); // no whole number of chunks
    try (Peer peer = Peers.named(kind, null)) {
      Peer.Client client = peer.connect(peer.serve(task), task);
      client.pull();
      task.check(client.values(), 0);
      for (int i = 0; i < 3; i++) {
        client.push();
      }
      client.pull();
      task.check(client.values(), 3);
      float[] wrong = client.values();
      wrong[999_999] += DenseTask.RATE;
      assertThatThrownBy(() -> task.check(wrong, 3)).hasMessageContaining("weight 999999 of 1000003");
      assertThat(task.gradient()).contains(-3, 3);
    }
  }
}
