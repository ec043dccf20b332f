package io.regatta.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.load.process.WorkerProcess;
import io.regatta.load.process.Task;
import io.regatta.load.small.SmallDriver;
import io.regatta.load.sparse.SparseDriver;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The drivers' workers on command, and the error of one that cannot carry a command out. */
class WorkersTest {

  @ParameterizedTest
  @ValueSource(strings = {"regatta", "regatta-link", "regatta-plain", "vertx-grpc-echo", "vertx-grpc-echo-waited"})
  void small_trips_are_timed_each(String kind) throws Exception {
    JsonObject setup = new JsonObject().put("driver", "small").put("kind", kind);
    try (Task server = SmallDriver.task(setup.copy().put("role", "server"));
        Task client = SmallDriver.task(setup.copy().put("role", "client").mergeIn(server.ready()))) {
      JsonObject told = client.run(new JsonObject().put("do", "trip").put("times", 20));
      assertThat(told.getDouble("p50")).isPositive();
      assertThat(told.getDouble("p99")).isGreaterThanOrEqualTo(told.getDouble("p50"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"regatta", "grpc-java"})
  void sparse_batches_count_distinct_rows_and_raw_ids(String kind) throws Exception {
    JsonObject setup = new JsonObject().put("driver", "sparse").put("kind", kind).put("rows", 60_000);
    try (Task server = SparseDriver.task(setup.copy().put("role", "server"));
        Task client = SparseDriver.task(setup.copy().put("role", "client").mergeIn(server.ready()))) {
      assertThat(client.run(new JsonObject().put("do", "fill")).getLong("rows")).isEqualTo(60_000);
      for (String operation : new String[] {"pull", "push"}) {
        JsonObject told = client.run(new JsonObject().put("do", operation).put("times", 3));
        assertThat(told.getLong("raw_ids")).isEqualTo(3 * 26_000);
        assertThat(told.getLong("rows")).isBetween(10_000L, 60_000L);
      }
      assertThat(server.run(new JsonObject().put("do", "memory")).getLong("heap_bytes")).isPositive();
    }
  }

  @Test
  void a_worker_that_cannot_start_says_why() {
    JsonObject setup = new JsonObject().put("driver", "dense").put("role", "server").put("kind", "carrier-pigeon");
    assertThatThrownBy(() -> WorkerProcess.start("pigeons", setup)).isInstanceOf(PeerLost.class)
        .hasMessageContaining("pigeons").hasMessageContaining("there is no kind 'carrier-pigeon'");
  }

  @Test
  void a_bad_command_line_is_status_2() {
    assertThat(Drivers.execute("dance")).isEqualTo(2);
    assertThat(Drivers.execute("--json")).isEqualTo(2);
  }
}
