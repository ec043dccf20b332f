package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.Sharding;
import io.regatta.core.testing.TestClock;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ModelLayout;
import io.regatta.snapshot.SnapshotKind;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A model of one run, and of a later one the base 4, deltas 8, 16 and 20, and batches 6, 12 and 18. */
class SnapshotFollowerTest {

  @TempDir
  static Path dir;

  @TempDir
  Path follow;

  @BeforeAll
  static void train() {
    ServedJob.train(dir, "model", 2, new JsonObject());
    ServedJob.train(dir, "snapshots", 20, new JsonObject().put("every_steps", 4).put("deltas", 9).put("batch_every_steps", 6)
        .put("keep", 9));
  }

  private Path publish(String name) throws IOException {
    return ServedJob.publish(dir.resolve("snapshots").resolve(name), follow);
  }

  private static Path snapshot(String name) {
    return dir.resolve("snapshots").resolve(name);
  }

  @Test
  void batches_beside_a_chain_that_is_followed_are_left_alone() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      SnapshotFollower follower = new SnapshotFollower(TestClock.at(0), predictor, follow);
      String[] names = {"step-000000004", "batch-000000006", "step-000000008", "batch-000000012", "step-000000016"};
      long[] served = {4, 4, 8, 8, 16};
      for (int i = 0; i < names.length; i++) {
        publish(names[i]);
        follower.look();
        assertThat(predictor.source().step()).as(names[i]).isEqualTo(served[i]);
      }
      ServedJob.damage(follow.resolve("step-000000004")); // of a delta what is served already is not read again
      publish("step-000000020");
      follower.look();
      assertThat(predictor.source().step()).isEqualTo(20);
      try (Predictor whole = Predictor.load(dir.resolve("model"))) {
        whole.take(snapshot("step-000000020"));
        assertThat(predictor.predict(ServedJob.lines(dir)).get().scores())
            .isEqualTo(whole.predict(ServedJob.lines(dir)).get().scores());
      }
    }
  }

  @Test
  void a_batch_is_taken_over_when_the_chain_has_ended() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      SnapshotFollower follower = new SnapshotFollower(TestClock.at(0), predictor, follow);
      publish("step-000000004");
      follower.look();
      publish("batch-000000012");
      follower.look();
      assertThat(predictor.source().step()).isEqualTo(4);
      publish("batch-000000018");
      follower.look();
      assertThat(predictor.source().step()).isEqualTo(18);
    }
  }

  /** Rows age and go behind the end of a pass, in which a snapshot of the same step was taken. */
  @Test
  void of_one_step_the_snapshot_behind_the_pass_is_the_later() {
    Predictor.Source within = new Predictor.Source(dir, "00000000000000a1", 300, -1);
    assertThat(within.isBefore(manifest(300, 2))).isTrue();
    assertThat(within.isBefore(manifest(300, -1))).isFalse();
    assertThat(new Predictor.Source(dir, "00000000000000a1", 300, 2).isBefore(manifest(300, 2))).isFalse();
    assertThat(new Predictor.Source(dir, "00000000000000a1", 301, -1).isBefore(manifest(300, 2))).isFalse();
  }

  private static Manifest manifest(long step, int pass) {
    return new Manifest("job", "00000000000000a1", "async", SnapshotKind.FULL, step, pass, 0, false, "", "",
        new ModelLayout("0123456789abcdef", 7, Sharding.common(0), 4, "sgd", 0, List.of(), List.of()), List.of(),
        List.of());
  }

  @Test
  void what_is_damaged_is_not_served_and_not_read_again() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      float[] before = predictor.predict(ServedJob.lines(dir)).get().scores();
      Path file = ServedJob.damage(publish("batch-000000018"));
      assertThatThrownBy(() -> predictor.take(follow.resolve("batch-000000018"))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(file.toString()).hasMessageContaining("damaged");
      SnapshotFollower follower = new SnapshotFollower(TestClock.at(0), predictor, follow);
      follower.look();
      assertThat(predictor.source().dir()).isEqualTo(dir.resolve("model"));
      assertThat(predictor.predict(ServedJob.lines(dir)).get().scores()).isEqualTo(before);
      publish("batch-000000012");
      follower.look();
      assertThat(predictor.source().step()).as("the one before it").isEqualTo(12);
      Files.copy(snapshot("batch-000000018").resolve(file.getFileName()), file, StandardCopyOption.REPLACE_EXISTING);
      follower.look();
      assertThat(predictor.source().step()).as("it is known to be bad, and not read").isEqualTo(12);
    }
  }

  @Test
  void one_that_is_removed_meanwhile_is_no_trouble() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      publish("step-000000004");
      Path removed = publish("batch-000000018"); // as retain does it, manifest first: here the data have gone as well
      Files.delete(removed.resolve("shard-00000-of-00001.safetensors"));
      SnapshotFollower follower = new SnapshotFollower(TestClock.at(0), predictor, follow);
      follower.look();
      assertThat(predictor.source().step()).isEqualTo(4);
    }
  }

  /** A slip in its name would else be noticed by nobody. */
  @Test
  void a_directory_that_is_not_there_yet_is_told_of_once_and_followed_when_it_is() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(SnapshotFollower.class);
    log.start();
    logger.addAppender(log);
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      Path later = follow.resolve("later");
      SnapshotFollower follower = new SnapshotFollower(TestClock.at(0), predictor, later);
      follower.look();
      follower.look();
      assertThat(log.list).hasSize(1).first().satisfies(told -> {
        assertThat(told.getLevel()).isEqualTo(Level.WARN);
        assertThat(told.getFormattedMessage()).contains(later + " does not exist", "predictor.follow");
      });
      ServedJob.publish(snapshot("step-000000004"), Files.createDirectory(later));
      follower.look();
      assertThat(predictor.source().step()).isEqualTo(4);
      assertThat(log.list.get(1).getFormattedMessage()).contains(later + " exists now");
    } finally {
      logger.detachAppender(log);
    }
  }
}
