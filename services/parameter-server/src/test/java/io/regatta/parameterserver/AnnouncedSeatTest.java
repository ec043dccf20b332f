package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.testing.TestClock;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.FixedDirectory;
import io.regatta.protocol.parameterserver.ShardMapRequest;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of a server that does not know its place, and to which trainers announce it. */
class AnnouncedSeatTest {

  private final Vertx vertx = Vertx.vertx();
  private final FixedDirectory directory = new FixedDirectory(vertx, new Waits(), Map.of(Directory.RENDEZVOUS, "127.0.0.1:7164"));
  private final AnnouncedSeat seat = new AnnouncedSeat(TestClock.at(1), directory, 7164, 2);
  private final Future<ServerSeat> place = seat.seat(wait -> { });

  @AfterEach
  void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static ShardMapRequest says(int index, int trainers, String... servers) {
    return ShardMapRequest.newBuilder().setServerIndex(index).setTrainers(trainers).addAllServers(List.of(servers)).build();
  }

  @Test
  void the_first_trainer_says_the_place_and_the_others_must_agree() {
    seat.told(ShardMapRequest.getDefaultInstance()); // a tool, which knows nothing
    assertThat(place.isComplete()).isFalse();
    seat.told(says(1, 2, "10.0.0.1:7164", "10.0.0.2:7164"));
    assertThat(place.result().index()).isEqualTo(1);
    assertThat(seat.servers()).isEqualTo(2);
    assertThat(directory.list(Directory.RENDEZVOUS).result()).extracting(Directory.Instance::endpoint)
        .containsExactly("10.0.0.1:7164");
    seat.told(says(1, 2, "node1:7164", "node2:7164")); // the same by other names
    assertThatThrownBy(() -> seat.told(says(0, 2, "10.0.0.2:7164", "10.0.0.1:7164"))).isInstanceOf(Conflict.class)
        .hasMessageContaining("is server 1 of 10.0.0.1:7164,10.0.0.2:7164").hasMessageContaining("same --pservers, in the same order");
    assertThatThrownBy(() -> seat.told(says(1, 2, "a:7164", "b:7164", "c:7164"))).isInstanceOf(Conflict.class);
  }

  @Test
  void what_cannot_be_is_refused_and_changes_nothing() {
    assertThatThrownBy(() -> seat.told(says(0, 3, "10.0.0.1:7164"))).isInstanceOf(Conflict.class)
        .hasMessageContaining("was started for 2 trainers (--num_gradient_servers), but this trainer's job has 3");
    assertThatThrownBy(() -> seat.told(says(1, 2, "10.0.0.1:7164"))).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> seat.told(says(0, 2, "10.0.0.1:7165"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("it is the one at port 7164");
    assertThat(place.isComplete()).isFalse();
  }
}
