package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Which dense block lies on which shard: asked of the worker, and logged once. */
class BlockMapTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger(ModelRegistration.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void detach() {
    logger.detachAppender(log);
  }

  @Test
  void fewBlocksAreLoggedOnceAndAreWhatTheWorkerSays() {
    List<String> asked = run(2, 8192);
    assertThat(asked).hasSize(6).first().asString().matches(".*weight:block0:80 @ shard 0 \\[0\\.\\.80\\)");
    assertThat(lines()).first().isEqualTo("job toy: 241 dense values in 6 blocks on 2 shards");
    assertThat(lines().subList(1, lines().size())).isEqualTo(asked);
  }

  @Test
  void ofManyBlocksOnlyTheNumberIsLogged() {
    List<String> asked = run(8, 1);
    assertThat(asked).hasSizeGreaterThan(20);
    assertThat(lines()).containsExactly("job toy: 241 dense values in " + asked.size()
        + " blocks on 8 shards; worker.serverShardMap() lists them");
  }

  private List<String> lines() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Two ranks initialize the toy model; what the first one's worker says. */
  private static List<String> run(int shards, int minBlock) {
    JobConfig job = Toy.job(new JsonObject().put("trainers", 2).put("shards", shards).put("min_block", minBlock));
    String[] map = new String[1];
    try (SharedShards ranks = new SharedShards(job)) {
      ranks.run(worker -> {
        try (Model model = Toy.model(); FleetTrainer trainer = worker.distributedTrainer(model,
            Toy.config(worker.optimizer()), Strategy.sync())) {
          trainer.initialize(Toy.input(4));
          if (worker.isFirstWorker()) {
            map[0] = worker.serverShardMap();
          }
        }
      });
    }
    return map[0].lines().toList();
  }
}
