package io.regatta.core.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.schedule.Algorithm;
import io.regatta.core.collective.schedule.Schedule;
import io.regatta.core.collective.schedule.Schedules;
import io.regatta.core.collective.schedule.Step;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * All ranks of one call without a network: a queue for each direction between two ranks, and steps done in a random order
 * that the schedules allow. A send is lent: its elements are read when the message is taken, as from another rank's memory,
 * so that an order which overwrites them too early is found.
 */
public final class Simulation {
  /** @param bytes null if the elements are read when it is taken */
  private record Message(int index, ByteBuffer bytes) {}

  private final List<Schedule> schedules;
  private final List<Tensor> tensors;
  private final Operation operation;
  private final ReduceOp op;
  private final Random random;
  private final List<BitSet> done = new ArrayList<>();
  /** Messages on their way, by sender and receiver. */
  private final Deque<Message>[][] channels;
  /** Steps that have not begun: of each rank, with each peer, sends and then what it takes. */
  private final Deque<Integer>[] queues;
  /** With those that have no part in the result: aggregators. */
  private final int ranks;
  /** Those whose vectors are reduced. */
  private final int members;
  private final Tensor.Workspace workspace = new Tensor.Workspace();

  @SuppressWarnings("unchecked")
  private Simulation(Operation operation, List<Schedule> schedules, List<Tensor> tensors, ReduceOp op, int members, long seed) {
    this.members = members;
    this.operation = operation;
    this.schedules = schedules;
    this.tensors = tensors;
    this.op = op;
    random = new Random(seed);
    ranks = schedules.size();
    channels = new Deque[ranks][ranks];
    queues = new Deque[2 * ranks * ranks];
    Arrays.setAll(queues, q -> new ArrayDeque<>());
    for (int r = 0; r < ranks; r++) {
      done.add(new BitSet());
      Arrays.setAll(channels[r], peer -> new ArrayDeque<>());
      List<Step> steps = schedules.get(r).steps();
      for (int i = 0; i < steps.size(); i++) {
        queues[2 * (r * ranks + steps.get(i).peer()) + (steps.get(i).sends() ? 0 : 1)].add(i);
      }
    }
  }

  /** Carries the call out; fails if no rank can continue. */
  public static void run(Operation operation, Algorithm algorithm, List<Tensor> tensors, ReduceOp op, int root, int most,
      int[] hostOf, long seed) {
    List<Schedule> schedules = new ArrayList<>();
    for (int r = 0; r < tensors.size(); r++) {
      schedules.add(Schedules.of(operation, algorithm, tensors.get(r).size(), r, root, most, hostOf));
    }
    new Simulation(operation, schedules, tensors, op, tensors.size(), seed).run();
  }

  /** An all-reduce by aggregators. @param tensors of the ranks, and behind them those of the aggregators */
  public static void aggregated(List<Tensor> tensors, int members, ReduceOp op, int most, long seed) {
    List<Schedule> schedules = new ArrayList<>();
    for (int r = 0; r < tensors.size(); r++) {
      schedules.add(Schedules.aggregated(tensors.get(r).size(), members, tensors.size() - members, r, most));
    }
    new Simulation(Operation.ALL_REDUCE, schedules, tensors, op, members, seed).run();
  }

  private void run() {
    while (carryOutAny()) {
      // one step more
    }
    for (int r = 0; r < ranks; r++) {
      assertThat(done.get(r).cardinality()).as("steps done of rank %d", r).isEqualTo(schedules.get(r).steps().size());
      for (Deque<Message> channel : channels[r]) {
        assertThat(channel).as("messages of rank %d that nobody took", r).isEmpty();
      }
    }
  }

  /** The first step that may be done, looked for from a random place on. */
  private boolean carryOutAny() {
    int start = random.nextInt(queues.length);
    for (int i = 0; i < queues.length; i++) {
      int q = (start + i) % queues.length;
      int rank = q / (2 * ranks);
      boolean send = q % 2 == 0;
      Integer index = queues[q].peek();
      if (index != null) {
        Step step = schedules.get(rank).steps().get(index);
        if ((step.after() == Step.NOTHING || done.get(rank).get(step.after()))
            && (send || !channels[step.peer()][rank].isEmpty())) {
          queues[q].poll();
          carryOut(rank, index);
          return true;
        }
      }
    }
    return false;
  }

  private void carryOut(int rank, int index) {
    Step step = schedules.get(rank).steps().get(index);
    Tensor tensor = tensors.get(rank);
    if (step.isFirst()) {
      tensor.begin(operation, op, members, step.from(), step.count(), workspace);
    }
    if (step.sends()) {
      boolean copied = step.kind() == Step.Kind.SEND_COPIED;
      channels[rank][step.peer()].add(new Message(index, copied ? bytes(tensor, step) : null));
      if (copied) {
        done.get(rank).set(index);
      }
      return;
    }
    int peer = step.peer();
    Message message = channels[peer][rank].poll();
    Step send = schedules.get(peer).steps().get(message.index);
    assertThat(send.count()).as("elements of a message").isEqualTo(step.count());
    ByteBuffer bytes = message.bytes == null ? bytes(tensors.get(peer), send) : message.bytes;
    if (step.kind() == Step.Kind.REDUCE) {
      tensor.reduce(op, step.from(), bytes, workspace);
    } else {
      tensor.copy(step.from(), bytes, workspace);
    }
    if (step.completes()) {
      tensor.complete(op, members, step.from(), step.count(), workspace);
    }
    done.get(peer).set(message.index);
    done.get(rank).set(index);
  }

  private ByteBuffer bytes(Tensor tensor, Step step) {
    ByteBuffer bytes = ByteBuffer.allocate(step.count() * tensor.wire().bytes());
    tensor.encode(step.from(), step.count(), bytes, workspace);
    return bytes.flip();
  }
}
