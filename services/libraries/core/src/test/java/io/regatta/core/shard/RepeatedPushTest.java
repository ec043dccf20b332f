package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.optim.OptimizerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class RepeatedPushTest {

  @Property(tries = 60)
  void repeatingPushesChangesNothing(@ForAll Mode mode, @ForAll long seed) {
    int trainers = 3;
    ParameterShard once = shard(mode, trainers);
    ParameterShard often = shard(mode, trainers);
    Random random = new Random(seed);
    List<Push> sent = new ArrayList<>();
    List<Answer<PushAck>> first = new ArrayList<>();
    List<Answer<PushAck>> repeated = new ArrayList<>();
    for (int step = 0; step < 4; step++) {
      for (int rank = 0; rank < trainers; rank++) {
        LocalJob.Gradient g = LocalJob.gradient(seed, rank, step);
        Push push = new Push(List.of(new Contributor(rank, 1, step + 1, g.weight())), step, 0, DenseMemory.of(g.dense()), g.sparse());
        first.add(Answer.to(once.push("job", push)));
        first.add(Answer.to(often.push("job", push)));
        sent.add(push);
        for (int i = random.nextInt(3); i > 0; i--) {
          repeated.add(Answer.to(often.push("job", sent.get(random.nextInt(sent.size())))));
        }
      }
    }
    assertThat(often.digest("job")).isEqualTo(once.digest("job"));
    assertThat(first).noneMatch(answer -> answer.value.repeatedPush());
    assertThat(repeated).allMatch(answer -> answer.value.repeatedPush());
    ParameterShard.JobStatus status = often.status("job");
    assertThat(status.repeatedPushes()).isEqualTo(repeated.size());
    assertThat(status.version()).isEqualTo(once.status("job").version());
    assertThat(status.pushes()).isEqualTo(12);
    assertThat(often.waits()).isEmpty();
  }

  private static ParameterShard shard(Mode mode, int trainers) {
    LocalJob job = new LocalJob(LocalJob.spec(mode, trainers, 1, OptimizerSpec.of("adagrad", 0.1), 9, NanPolicy.FAIL));
    job.start();
    return job.shards.get(0);
  }
}
