package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** All that can happen to the rows of a table, as {@code /metrics} tells it. */
class TableCountersTest {

  private static final int ROWS_MAX = 8;

  private static List<SparseIds> ids(int from, int n) {
    return List.of(new SparseIds("t", LongStream.range(from, from + n).toArray()));
  }

  private static JobSpec job() {
    TableLife life = TableLife.counted().withAdmitCount(2).with(l -> l.shrinkScore(0.5f).shrinkUnseenDays(1).ttlSeconds(1_000_000));
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    return new JobSpec("life", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec("t", 1, InitializerSpec.zeros(), sgd, life))));
  }

  /** Returns the counters of the table, by name and further labels. */
  private static Map<String, Double> shown(RunningServers servers) {
    Map<String, Double> shown = new TreeMap<>();
    for (String line : ((PrometheusMeterRegistry) servers.node.metrics()).scrape().split("\n")) {
      if (line.startsWith("regatta_job_") && line.contains("_total{") && line.contains("table=\"t\"")) {
        String name = line.substring("regatta_job_".length(), line.indexOf("_total{"));
        int reason = line.indexOf("reason=\"");
        shown.put(reason < 0 ? name : name + " " + line.substring(reason + 8, line.indexOf('"', reason + 8)),
            Double.valueOf(line.substring(line.lastIndexOf(' '))));
      }
    }
    return shown;
  }

  @Test
  void everyEventOfATablesLifeIsCounted() throws Exception {
    try (RunningServers servers = new RunningServers()) {
      ParameterServerConfig.Limits limits = ParameterServerConfig.defaults().limits()
          .with(l -> l.jobs(1).rows(ROWS_MAX).onFull(ParameterServerConfig.Limits.Full.EVICT));
      servers.deploy(ParameterServerConfig.defaults().at(0, 1, 1).withLimits(limits));
      ParameterClient client = servers.client(job(), 0, 1);
      get(client.register());
      get(client.pull(0, false, ids(1, 4), false)); // born, and not admitted
      get(client.pull(1, false, ids(1, 3), false)); // admitted: a step counts once
      get(client.push(1, 1, null, null, List.of(new SparseRows("t", new long[] {1, 2, 3, 4},
          new float[] {1, 10, 10, 1, 10, 10, 1, 0, 0, 1, 10, 10})))); // value, show, click; 4 is not admitted
      get(client.shrink(1, true)); // 3 goes for its score
      get(client.pull(0, false, ids(1, 1), false));
      get(client.shrink(2, true)); // 2 and 4 go unseen
      get(client.pull(0, false, ids(101, 7), false)); // as many as there may be
      get(client.pull(0, false, ids(201, 3), false)); // for which three others go
      // ends the stream, and with it what this client can do
      assertThatThrownBy(() -> get(client.pull(0, false, ids(301, ROWS_MAX + 1), false))).isInstanceOf(Overloaded.class);

      Map<String, Double> all = Map.ofEntries(
          Map.entry("rows_born", 14.0), Map.entry("rows_admitted", 3.0), Map.entry("pulls_not_admitted", 14.0),
          Map.entry("gradients_dropped", 1.0), Map.entry("shrinks", 2.0), Map.entry("rows_aged", 7.0),
          Map.entry("rows_removed score", 1.0), Map.entry("rows_removed unseen", 2.0), Map.entry("rows_removed ttl", 0.0),
          Map.entry("rows_removed evicted", 3.0), Map.entry("rows_restored", 0.0), Map.entry("refused", 1.0));
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (!shown(servers).equals(all) && System.nanoTime() < deadline) { // a shard publishes at an interval, one after the other
        get(servers.vertx.timer(20).mapEmpty());
      }
      assertThat(shown(servers)).containsExactlyInAnyOrderEntriesOf(all);
    }
  }
}
