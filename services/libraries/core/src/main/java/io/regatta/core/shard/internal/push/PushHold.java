package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.JobContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The pushes that wait on one shard of a job without rounds while a snapshot is taken. The snapshot thus contains the
 * same pushes of each trainer on every shard. First every shard finishes the pushes that have begun, and reports the
 * last ones. Then each lets in the pushes that another shard already has, takes its moment, and lets all in. A push
 * that cannot end, because its trainer is lost or stalled, must not hold the others. The caller that began the hold
 * therefore ends it after some time. Owned by the shard's thread.
 *
 * <p>Several snapshots may hold the pushes at the same time, for example when the trainer that asked for one is lost
 * and another asks for the next. Each ends its own hold, and pushes wait until all have. The shard takes one snapshot
 * at a time, and lets in the pushes that this snapshot is to contain.
 */
public final class PushHold {

  /** Snapshots that may hold pushes at the same time. */
  public static final int HOLDERS = 16;

  private record Held(Push push, long sinceMillis, CompletableFuture<PushAck> done) {}

  private final JobContext job;
  private final Trainers trainers;
  private final PushQueue queue;
  private final BiConsumer<Push, CompletableFuture<PushAck>> letIn;
  private final int limit;
  /** Callers that wait for the last pushes, by the name of the snapshot that holds; emptied once they are answered. */
  private final Map<String, List<CompletableFuture<List<PushMark>>>> holders = new LinkedHashMap<>();
  /** Rank that is leaving, whose pushes are let in; -1: none. */
  private int leaving = -1;
  /**
   * Snapshot that has been asked for, one of the holders; null: none. {@link #upTo} has the pushes that it is to
   * contain.
   */
  private String marked;
  private List<PushMark> upTo = List.of();
  private List<Held> held = new ArrayList<>();

  /**
   * Creates a hold of no snapshot.
   *
   * @param queue the pushes that are being processed
   * @param letIn takes in a push that need not wait any longer; throws if it is refused
   * @param limit how many pushes of one trainer may wait
   */
  public PushHold(JobContext job, Trainers trainers, PushQueue queue,
      BiConsumer<Push, CompletableFuture<PushAck>> letIn, int limit) {
    this.job = job;
    this.trainers = trainers;
    this.queue = queue;
    this.letIn = letIn;
    this.limit = limit;
  }

  /**
   * Begins a hold; answers with the last push of each trainer when no push is under way. If this snapshot holds
   * pushes already, the hold stays as it is, and each of its calls is answered.
   *
   * @param holder name of the snapshot
   */
  public void begin(String holder, CompletableFuture<List<PushMark>> done) {
    if (!holders.containsKey(holder) && holders.size() >= HOLDERS) {
      throw new Overloaded(HOLDERS + " snapshots hold the pushes of " + job.where + ", the limit; wait until one of "
          + "them has ended");
    }
    holders.computeIfAbsent(holder, h -> new ArrayList<>()).add(done);
    settle();
  }

  /** Returns true between {@link #begin} and {@link #end} of this snapshot. */
  public boolean isOf(String holder) {
    return holders.containsKey(holder);
  }

  /** Lets in the pushes that other shards already have and this snapshot is to contain. */
  public void upTo(String holder, List<PushMark> marks) {
    marked = holder;
    upTo = marks;
    readmit();
  }

  /** Answers the holders if no push is being processed; called after every change. */
  public void settle() {
    if (holders.values().stream().allMatch(List::isEmpty) || !isQuiet()) {
      return;
    }
    List<PushMark> last = trainers.active().stream()
        .map(t -> new PushMark(t.rank(), t.incarnation(), t.lastSequence())).toList();
    holders.values().forEach(asked -> {
      asked.forEach(done -> job.completions.value(done, last));
      asked.clear();
    });
  }

  /**
   * Returns true if no push is being processed, and those up to the marks have arrived, as far as their trainers are
   * still live.
   */
  public boolean isReached() {
    return isQuiet() && upTo.stream().allMatch(mark -> {
      TrainerState t = trainers.find(mark.rank(), mark.incarnation());
      return t == null || !t.active() || t.lastSequence() >= mark.sequence();
    });
  }

  private boolean isQuiet() {
    return queue.isEmpty() && !trainers.anyUnderWay();
  }

  /** Returns true if this push has to wait, because it is new and no other shard has it. */
  boolean keeps(Push push) {
    return !holders.isEmpty() && push.contributors().stream().noneMatch(of -> of.rank() == leaving)
        && trainers.underWay(push) == null && !push.contributors().stream().allMatch(this::isLetIn);
  }

  private boolean isLetIn(Contributor of) {
    TrainerState t = trainers.find(of.rank(), of.incarnation());
    return t == null || of.sequence() <= t.lastSequence() || upTo.stream().anyMatch(mark -> mark.rank() == of.rank()
        && mark.incarnation() == of.incarnation() && of.sequence() <= mark.sequence());
  }

  /** Keeps a push until the end of all holds. */
  void keep(Push push, CompletableFuture<PushAck> done) {
    if (held.stream().filter(h -> sharesTrainer(h.push, push)).count() >= limit) {
      throw new Overloaded(PushCheck.name(push) + " refused: " + limit + " pushes of its trainers wait at " + job.where
          + " for a snapshot to be taken, the limit for each; wait for acknowledgements");
    }
    held.add(new Held(push, job.nowMillis(), done));
  }

  private static boolean sharesTrainer(Push a, Push b) {
    return a.contributors().stream().anyMatch(of -> b.contributors().stream().anyMatch(other -> other.rank() == of.rank()));
  }

  /** Ends the hold of a snapshot, if there is one: its moment has been taken, or will not be. */
  public void end(String holder) {
    List<CompletableFuture<List<PushMark>>> asked = holders.remove(holder);
    if (asked == null) {
      return;
    }
    if (holder.equals(marked)) {
      marked = null;
      upTo = List.of();
    }
    fail(asked, "the snapshot has been given up");
    readmit();
  }

  private void fail(List<CompletableFuture<List<PushMark>>> asked, String why) {
    asked.forEach(done -> job.completions.error(done, new Overloaded("pushes under way at " + job.where
        + " have not ended for a snapshot: " + why)));
  }

  private void readmit() {
    List<Held> waiting = held;
    held = new ArrayList<>();
    for (Held h : waiting) {
      try {
        letIn.accept(h.push, h.done);
      } catch (RuntimeException | Error e) {
        h.push.release();
        job.completions.error(h.done, e);
      }
    }
  }

  /**
   * Lets in the pushes of a trainer that leaves, because they came before. The moment may have waited for them, so the
   * hold may end.
   */
  public void letIn(int rank) {
    leaving = rank;
    readmit();
    leaving = -1;
  }

  /** Fails all requests that wait here. */
  public void giveUp(Function<String, RegattaException> why) {
    holders.values().forEach(asked -> fail(asked, "the job has ended here"));
    holders.clear();
    held.forEach(h -> {
      h.push.release();
      job.completions.error(h.done, why.apply(PushCheck.name(h.push) + " at " + job.where + " given up"));
    });
    held.clear();
  }

  public void waits(List<Wait> out) {
    for (Held h : held) {
      for (Contributor of : h.push.contributors()) {
        out.add(new Wait("trainer " + of.rank(), "push of step " + h.push.step(), job.where, h.sinceMillis,
            List.of(Wait.Peer.named("the moment of a snapshot"))));
      }
    }
  }
}
