package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.HeapBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The open reduction rounds of one job towards one shard. Owned by one aggregator, on its thread; it changes its state
 * first and answers last. It collects the pushes of a step from the trainers of this host, merges them in rank order
 * and sends one push to the shard. The trainers are acknowledged when the shard has acknowledged.
 *
 * <p>A round waits for every registered trainer that does not sit out and has not pushed its step or a later one. A
 * trainer that has left is not waited for any more, but its pushes count. The unsent pushes of a trainer declared lost
 * are dropped. The shard may already know of the loss and would refuse the whole round. If the shard knew of it first,
 * the pushes of the refused round are sent one by one. A push whose round has been sent before (repeated after a broken
 * stream) is sent to the shard alone: the shard knows what it has applied.
 */
public final class AggregationRounds {

  /** The connection to the shard. Answers on the owner's thread; fails with {@link RegattaException}s only. */
  public interface Shard {
    /** Sends one round's merged push. */
    CompletionStage<PushAck> push(Push push);

    /** Sends a push so that its refusal affects no other push. */
    CompletionStage<PushAck> pushAlone(Push push);

    /**
     * Reports a fault of this process, for the log. The pushes have been answered, or are answered next.
     *
     * @param what was done, e.g. {@code sending the push of step 7 of trainer 3 at aggregator of shard 0 of job census}
     */
    void failed(String what, Throwable fault);
  }

  /**
   * The limits of the rounds of one job towards one shard; a push beyond them fails with {@link Overloaded} and names
   * the setting of the aggregator.
   *
   * @param openRounds how far the fastest trainer may be ahead of the slowest, in steps
   * @param bytes gradients held until the shard has acknowledged them
   * @param merged budget of the heap for merged pushes, until then
   */
  public record Limits(int openRounds, long bytes, HeapBudget merged) {

    /** Creates limits with a heap budget of their own, shared with nobody. */
    public Limits(int openRounds, long bytes) {
      this(openRounds, bytes, HeapBudget.answers());
    }
  }

  private record Part(HostTrainer trainer, Push push, long bytes, long sinceMillis,
      CompletableFuture<PushAck> done) {}

  private final String where;
  private final Limits limits;
  private final Shard shard;
  private final Clock clock;
  /** Trainers that are registered and neither left nor lost, by rank. */
  private final Map<Integer, HostTrainer> active = new TreeMap<>();
  /** Open rounds by step; their parts by rank. */
  private final TreeMap<Long, TreeMap<Integer, Part>> open = new TreeMap<>();
  /** Time, by rank, that complete rounds have waited for it since their first push. */
  private final Map<Integer, Long> waitMillis = new TreeMap<>();
  /** Number of parts that have not been answered; {@link #bytes} is their payload. */
  private int held;
  private long bytes;

  /**
   * Creates the state without rounds.
   *
   * @param clock dates requests
   */
  public AggregationRounds(String job, int shardIndex, Limits limits, Shard shard, Clock clock) {
    this.where = "aggregator of shard " + shardIndex + " of job " + job;
    this.limits = limits;
    this.shard = shard;
    this.clock = clock;
  }

  /**
   * Registers a trainer, for which rounds wait from now on (again, if it sat out). A higher incarnation replaces an
   * earlier one, which is lost.
   */
  public void register(TrainerId id) {
    HostTrainer known = active.get(id.rank());
    if (known != null && known.id.incarnation() > id.incarnation()) {
      throw new StaleGeneration("incarnation " + id.incarnation() + " of trainer " + id.rank() + " at " + where
          + " has been replaced by " + known.id.incarnation() + "; join the group again");
    }
    if (known == null || known.id.incarnation() < id.incarnation()) {
      active.put(id.rank(), new HostTrainer(id, clock.epochMillis()));
      if (known != null) {
        dropParts(known);
        settle();
      }
    } else {
      known.sitsOut = false;
    }
  }

  /**
   * Adds a push of one trainer to the round of its step.
   *
   * @return completes on the owner's thread when the shard has acknowledged the round; fails if the push is refused
   */
  public CompletionStage<PushAck> push(Push push) {
    CompletableFuture<PushAck> done = new CompletableFuture<>();
    try {
      take(push, done);
    } catch (RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
    return done;
  }

  private void take(Push push, CompletableFuture<PushAck> done) {
    if (push.contributors().size() != 1) {
      throw new InvalidInput("a push of step " + push.step() + " at " + where + " has " + push.contributors().size()
          + " contributors; an aggregator takes the pushes of single trainers");
    }
    Contributor from = push.contributors().get(0);
    HostTrainer trainer = requireActive(from.rank(), from.incarnation());
    if (push.sitsOut()) {
      sitOut(trainer, push, done);
      return;
    }
    if (trainer.sitsOut) {
      throw new InvalidInput("push of step " + push.step() + " refused at " + where + ": " + trainer.name()
          + " sits out; register again first");
    }
    long size = sizeOf(push);
    if (bytes + size > limits.bytes()) {
      throw new Overloaded("push of step " + push.step() + " of " + trainer.name() + " (" + size + " bytes) at " + where
          + " would pass gradient_aggregator.limits.bytes " + limits.bytes() + ", of which " + bytes
          + " are held; raise it, or push without the aggregator");
    }
    Part part = new Part(trainer, push, size, clock.epochMillis(), done);
    Part before = open.containsKey(push.step()) ? open.get(push.step()).get(from.rank()) : null;
    if (before != null) {
      repeated(before, part);
    } else if (push.step() <= trainer.lastStep) {
      hold(part);
      sendAlone(part);
    } else {
      join(part);
    }
  }

  /**
   * Acknowledges at once that a trainer sits out: the trainer itself informs the shard, after the acknowledgements of
   * its pushes.
   */
  private void sitOut(HostTrainer trainer, Push push, CompletableFuture<PushAck> done) {
    trainer.sitsOut = true;
    done.complete(new PushAck(push.version(), 0, false, false));
    settle();
  }

  private HostTrainer requireActive(int rank, long incarnation) {
    HostTrainer trainer = active.get(rank);
    if (trainer == null || trainer.id.incarnation() != incarnation) {
      throw new StaleGeneration("incarnation " + incarnation + " of trainer " + rank + " is not registered at " + where
          + (trainer == null ? "" : ", but incarnation " + trainer.id.incarnation())
          + "; register before pushing, or join the group again if it has left or was declared lost");
    }
    trainer.lastSeenMillis = clock.epochMillis();
    return trainer;
  }

  private void repeated(Part before, Part part) {
    if (before.push.contributors().get(0).sequence() != part.push.contributors().get(0).sequence()) {
      throw new InvalidInput(part.trainer.name() + " has pushed step " + part.push.step() + " at " + where
          + " already, with another sequence number");
    }
    open.get(part.push.step()).put(part.trainer.id.rank(), part);
    hold(part);
    answer(before, null, new Cancelled("push of step " + part.push.step() + " was repeated by " + part.trainer.name()));
  }

  private void join(Part part) {
    long step = part.push.step();
    if (!open.containsKey(step) && open.size() >= limits.openRounds()) {
      throw new Overloaded("push of step " + step + " of " + part.trainer.name() + " would open one more round at "
          + where + " than gradient_aggregator.limits.open_rounds " + limits.openRounds() + "; the first open one, step "
          + open.firstKey() + ", waits for " + names(missing(open.firstKey())));
    }
    part.trainer.lastStep = step;
    open.computeIfAbsent(step, s -> new TreeMap<>()).put(part.trainer.id.rank(), part);
    hold(part);
    settle();
  }

  private void hold(Part part) {
    held++;
    bytes += part.bytes;
    part.trainer.pending++;
  }

  /**
   * Removes a trainer that has ended its run.
   *
   * @return completes on the owner's thread when all its pushes have been answered
   */
  public CompletionStage<Void> leave(TrainerId id) {
    HostTrainer trainer = active.get(id.rank());
    if (trainer == null || trainer.id.incarnation() != id.incarnation()) {
      return CompletableFuture.completedFuture(null);
    }
    active.remove(id.rank());
    trainer.hasLeft = true;
    settle();
    trainer.tellIfAnswered();
    return trainer.answered;
  }

  /**
   * Removes a trainer that was declared lost. A no-op for any other incarnation than the registered one or an older
   * one.
   */
  public void lost(TrainerId id) {
    HostTrainer trainer = active.get(id.rank());
    if (trainer != null && trainer.id.incarnation() <= id.incarnation()) {
      active.remove(id.rank());
      dropParts(trainer);
      settle();
    }
  }

  private void dropParts(HostTrainer trainer) {
    List<Part> dropped = new ArrayList<>();
    open.values().forEach(parts -> {
      Part part = parts.get(trainer.id.rank());
      if (part != null && part.trainer == trainer) {
        dropped.add(parts.remove(trainer.id.rank()));
      }
    });
    open.values().removeIf(Map::isEmpty);
    dropped.forEach(part -> answer(part, null, new PeerLost("push of step " + part.push.step() + " of " + trainer.name()
        + " at " + where + " was dropped: the trainer was declared lost before its round was complete")));
  }

  /** Sends every round that waits for no trainer any more, in the order of steps. */
  private void settle() {
    while (!open.isEmpty() && missing(open.firstKey()).isEmpty()) {
      List<Part> parts = List.copyOf(open.pollFirstEntry().getValue().values());
      long first = parts.stream().mapToLong(Part::sinceMillis).min().orElseThrow();
      parts.forEach(part -> waitMillis.merge(part.trainer.id.rank(), part.sinceMillis - first, Long::sum));
      send(parts);
    }
  }

  private List<HostTrainer> missing(long step) {
    return active.values().stream().filter(t -> t.isDue(step)).toList();
  }

  private static String names(List<HostTrainer> trainers) {
    return String.join(", ", trainers.stream().map(HostTrainer::name).toList());
  }

  private void send(List<Part> parts) {
    long merged = mergedBytes(parts);
    if (!limits.merged.take(merged)) {
      parts.forEach(part -> answer(part, null, new Overloaded("push of step " + part.push.step() + " of " + part.trainer.name()
          + " at " + where + " given up: its round of " + parts.size() + " pushes takes up to " + merged
          + " bytes to merge, and " + limits.merged.free() + " of " + limits.merged.limit() + " are free: "
          + HeapBudget.inWords() + ". Give the aggregator a larger heap (-Xmx), or lower gradient_aggregator.limits.bytes")));
      return;
    }
    Push push;
    try {
      push = RoundReducer.merge(parts.stream().map(Part::push).toList());
    } catch (RuntimeException | Error e) {
      limits.merged.giveBack(merged);
      parts.forEach(part -> answer(part, null, e instanceof RegattaException refusal ? refusal
          : new Indeterminate("push of step " + part.push.step() + " of " + part.trainer.name() + " at " + where
              + " given up: its round of " + parts.size() + " pushes could not be merged: " + e, e)));
      return;
    }
    sent(() -> shard.push(push), "sending " + named(parts.get(0)) + " with its round").whenComplete((ack, error) -> {
      limits.merged.giveBack(merged);
      if (error instanceof StaleGeneration) {
        parts.forEach(this::sendAlone); // one of them was lost before we knew: only that one is to be refused
      } else {
        parts.forEach(part -> answer(part, ack, error));
      }
    });
  }

  private void sendAlone(Part part) {
    sent(() -> shard.pushAlone(part.push), "sending " + named(part) + " alone")
        .whenComplete((ack, error) -> answer(part, ack, error));
  }

  /** Sends; if that throws, it is reported, and the push fails. */
  private CompletionStage<PushAck> sent(Supplier<CompletionStage<PushAck>> sending, String what) {
    try {
      return sending.get();
    } catch (RuntimeException | Error e) {
      shard.failed(what, e);
      return CompletableFuture.failedFuture(e instanceof RegattaException refusal ? refusal
          : new Indeterminate(what + " failed: " + e, e));
    }
  }

  private String named(Part part) {
    return "the push of step " + part.push.step() + " of " + part.trainer.name() + " at " + where;
  }

  private void answer(Part part, PushAck ack, Throwable error) {
    held--;
    bytes -= part.bytes;
    part.trainer.pending--;
    try {
      part.push.release();
    } catch (RuntimeException | Error e) { // the trainer, and those of the other parts, must get their answers
      shard.failed("releasing " + named(part), e);
    }
    if (error == null) {
      part.done.complete(ack);
    } else {
      part.done.completeExceptionally(error);
    }
    part.trainer.tellIfAnswered();
  }

  /** Fails every push that has not been sent. */
  public void close(RegattaException reason) {
    List<Part> parts = open.values().stream().flatMap(round -> round.values().stream()).toList();
    open.clear();
    active.clear();
    parts.forEach(part -> answer(part, null, reason));
  }

  /** Returns true if no trainer is registered and no answer is owed. */
  public boolean isEmpty() {
    return active.isEmpty() && held == 0;
  }

  /** Returns the registered trainers. */
  public List<TrainerId> trainers() {
    return active.values().stream().map(t -> t.id).toList();
  }

  /** Returns the time that complete rounds have waited for each rank since their first push, ms. */
  public Map<Integer, Long> waitMillis() {
    return Map.copyOf(waitMillis);
  }

  /** Returns the number of rounds that wait for a trainer. */
  public int openRounds() {
    return open.size();
  }

  /** Returns the payload of the pushes held, including sent ones until they are answered. */
  public long bytes() {
    return bytes;
  }

  /** Returns every push that waits for its round, with the trainers that it waits for. */
  public List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    open.forEach((step, parts) -> {
      List<Wait.Peer> peers = missing(step).stream().map(HostTrainer::peer).toList();
      parts.values().forEach(part ->
          waits.add(new Wait(part.trainer.name(), "push of step " + step, where, part.sinceMillis, peers)));
    });
    return waits;
  }

  /** Returns the bytes of a merged push at most: one dense vector, and the rows of all. */
  private static long mergedBytes(List<Part> parts) {
    long dense = 0;
    long rows = 0;
    for (Part part : parts) {
      long own = part.push.dense() == null ? 0 : 4L * part.push.dense().size();
      dense = Math.max(dense, own);
      rows += part.bytes - own;
    }
    return dense + rows;
  }

  private static long sizeOf(Push push) {
    long size = push.dense() == null ? 0 : 4L * push.dense().size();
    for (SparseRows rows : push.sparse()) {
      size += 8L * rows.ids().length + 4L * rows.values().length;
    }
    return size;
  }
}
