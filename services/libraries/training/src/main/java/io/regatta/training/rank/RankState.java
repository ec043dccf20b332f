package io.regatta.training.rank;

import io.regatta.snapshot.ExampleCounts;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.ElasticState;
import io.regatta.training.session.OwnShards;
import java.nio.FloatBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The state of a rank of an elastic job that a newcomer needs: its shard's values and optimizer, its running means, its
 * steps. Belongs to the model thread.
 */
final class RankState implements ElasticState {

  private static final int STEPS = 0;
  private static final int VERSION = 1;
  private static final int ROUND = 2;
  private static final int EXAMPLES = 3;
  private static final int MILLIS = 4;
  private static final int UPDATES = 5;
  private static final int TRAINED_BEFORE = 6;
  private static final int REPEATED_BEFORE = 7;

  /** The parameters that are not trained. */
  interface Frozen {
    Map<String, float[]> values();

    void set(Map<String, float[]> values);
  }

  private final OwnShards shards;
  private final RankSteps steps;
  private final StepTimes times;
  private final Frozen frozen;

  RankState(OwnShards shards, RankSteps steps, StepTimes times, Frozen frozen) {
    this.shards = shards;
    this.steps = steps;
    this.times = times;
    this.frozen = frozen;
  }

  @Override
  public int floats() {
    return (int) Math.min(Integer.MAX_VALUE, shards.floats() + frozen.values().values().stream().mapToLong(v -> v.length).sum());
  }

  @Override
  public long[] progress() {
    OwnShards.Progress inside = shards.progress();
    ExampleCounts before = steps.before();
    return new long[] {steps.made(), inside.version(), inside.step(), steps.examplesOfAll(),
        steps.millisBefore() + millis(), inside.updates(), before.trained(), before.repeated()};
  }

  /** Returns the time of this rank's own training so far, ms. */
  private long millis() {
    return Math.round(times.seconds() * 1000);
  }

  @Override
  public void write(FloatBuffer to) {
    shards.copy(to);
    frozen.values().values().forEach(to::put);
  }

  @Override
  public void take(FloatBuffer from, long[] progress, boolean own) {
    shards.replace(from, new OwnShards.Progress(progress[VERSION], progress[UPDATES], progress[ROUND]));
    steps.resumeAt(progress[STEPS]);
    ExampleCounts before = new ExampleCounts(progress[TRAINED_BEFORE], progress[REPEATED_BEFORE], 0);
    steps.takeOver(progress[EXAMPLES], before, progress[MILLIS], millis());
    if (!own) {
      Map<String, float[]> values = new LinkedHashMap<>(frozen.values());
      values.replaceAll((name, value) -> {
        float[] taken = new float[value.length];
        from.get(taken);
        return taken;
      });
      frozen.set(values);
    }
  }
}
