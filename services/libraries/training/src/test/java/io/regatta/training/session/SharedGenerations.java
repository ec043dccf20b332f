package io.regatta.training.session;

import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * The ranks of elastic jobs in one process, without a network: generations, and a death at any call, whose result some
 * of the others may already have. The root of a broadcast continues at once, as if its sends had been handed over. Any
 * thread.
 */
public final class SharedGenerations {

  /** One rank's input to a call. */
  private record Given(FloatBuffer floats, long[] longs, int root, CompletableFuture<Void> done) {
    /** Returns a copy, for which the rank does not wait. */
    Given handedOver() {
      FloatBuffer copy = floats == null ? null : FloatBuffer.allocate(floats.remaining()).put(0, floats, 0, floats.remaining());
      return new Given(copy, longs == null ? null : longs.clone(), root, new CompletableFuture<>());
    }
  }

  private final int min;
  private final int max;
  private final Random random;
  private final List<Member> members = new ArrayList<>();
  private final Map<Member, CompletableFuture<Void>> lobby = new LinkedHashMap<>();
  private final Map<Long, Map<Member, Given>> calls = new HashMap<>();
  private long generation;
  private boolean over = true;
  private long completed;
  private long killAt = -1;
  private Member victim;
  private Runnable onKilled = () -> { };
  private CompletableFuture<Void> whole;
  private LongConsumer onCompleted = n -> { };

  public SharedGenerations(int min, int max, long seed) {
    this.min = min;
    this.max = max;
    random = new Random(seed);
  }

  /** Sets the receiver of the number of completed calls; it is called on any rank's thread. */
  public synchronized void onCompleted(LongConsumer told) {
    onCompleted = told;
  }

  /** Kills a member in the call after this number of completed calls; some of the others complete that call. */
  public synchronized void killAt(Member member, long calls) {
    victim = member;
    killAt = calls;
  }

  /**
   * Kills a member in the call after this number of further calls.
   *
   * @param told called when the member is dead, on any thread
   */
  public synchronized void killIn(Member member, long calls, Runnable told) {
    victim = member;
    killAt = completed + calls;
    onKilled = told;
  }

  /** Returns a future that completes after this number of further calls. */
  public synchronized CompletableFuture<Void> after(long calls) {
    CompletableFuture<Void> reached = new CompletableFuture<>();
    long at = completed + calls;
    LongConsumer before = onCompleted;
    onCompleted = n -> {
      before.accept(n);
      if (n >= at) {
        reached.complete(null);
      }
    };
    return reached;
  }

  /** Completes when a generation of the largest size is there, now or later. */
  public synchronized CompletableFuture<Void> whole() {
    if (!over && members.size() == max) {
      return CompletableFuture.completedFuture(null);
    }
    whole = whole == null ? new CompletableFuture<>() : whole;
    return whole;
  }

  /** Somebody new, who comes with {@link Member#reform}. */
  public Member member() {
    return new Member();
  }

  /** In the current generation, by rank. */
  public synchronized List<Member> members() {
    return List.copyOf(members);
  }

  public synchronized long generations() {
    return generation;
  }

  public synchronized int waiting() {
    return lobby.size();
  }

  /** One rank. */
  public final class Member implements RankGroup {
    private int rank = -1;
    private int worldSize;
    private long formed;
    private long made;
    private boolean dead;

    @Override
    public boolean isElastic() {
      return true;
    }

    @Override
    public int rank() {
      synchronized (SharedGenerations.this) {
        return rank;
      }
    }

    @Override
    public int worldSize() {
      synchronized (SharedGenerations.this) {
        return worldSize;
      }
    }

    @Override
    public long generation() {
      synchronized (SharedGenerations.this) {
        return formed;
      }
    }

    @Override
    public boolean newcomers() {
      synchronized (SharedGenerations.this) {
        return lobby.keySet().stream().anyMatch(waiting -> !members.contains(waiting)) && members.size() < max;
      }
    }

    public boolean isDead() {
      synchronized (SharedGenerations.this) {
        return dead;
      }
    }

    @Override
    public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
      return call(this, new Given(Recovery.floats(floats), null, -1, new CompletableFuture<>()));
    }

    @Override
    public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
      return call(this, new Given(Recovery.floats(floats), null, root, new CompletableFuture<>()));
    }

    @Override
    public CompletableFuture<Void> gather(long[] parts) {
      return call(this, new Given(null, parts, -1, new CompletableFuture<>()));
    }

    @Override
    public CompletableFuture<Void> broadcast(long[] values, int root) {
      return call(this, new Given(null, values, root, new CompletableFuture<>()));
    }

    @Override
    public CompletableFuture<Void> reform(boolean inVain) {
      return next(this);
    }

    public CompletableFuture<Void> reform() {
      return next(this);
    }

    /** None: each of its generations begins. */
    @Override
    public CompletableFuture<Void> pause(long millis) {
      return CompletableFuture.completedFuture(null);
    }

    /** As if its process had been killed. */
    public void kill() {
      end(this, "was killed");
    }

    /** As at the end of its run. */
    public void leave() {
      end(this, "has left");
    }
  }

  private CompletableFuture<Void> call(Member by, Given given) {
    List<Runnable> later = new ArrayList<>();
    synchronized (this) {
      RegattaException broken = broken(by);
      if (broken != null) {
        return CompletableFuture.failedFuture(broken);
      }
      long number = by.made++;
      Map<Member, Given> all = calls.computeIfAbsent(number, n -> new LinkedHashMap<>());
      all.put(by, given.root == by.rank ? given.handedOver() : given);
      if (given.root == by.rank) {
        later.add(() -> given.done.complete(null));
      }
      if (all.size() == members.size()) {
        calls.remove(number);
        completed++;
        complete(all, later);
        long told = completed;
        later.add(() -> onCompleted.accept(told));
      }
    }
    later.forEach(Runnable::run);
    return given.done;
  }

  private RegattaException broken(Member by) {
    return by.dead ? new Cancelled("this rank is dead") : over || by.formed != generation
        ? new PeerLost("generation " + by.formed + " is over") : null;
  }

  private void complete(Map<Member, Given> all, List<Runnable> later) {
    boolean kills = killAt >= 0 && completed > killAt && all.containsKey(victim);
    List<Member> got = new ArrayList<>();
    for (Member member : members) {
      if (!kills || random.nextBoolean() && member != victim) {
        got.add(member);
      }
    }
    reduce(all, got);
    got.forEach(member -> later.add(() -> all.get(member).done.complete(null)));
    if (kills) {
      long of = generation; // the others may have formed the next one by the time that these are told
      members.stream().filter(member -> !got.contains(member)).forEach(member -> later.add(() -> all.get(member).done
          .completeExceptionally(member == victim ? new Cancelled("this rank is dead")
              : new PeerLost("generation " + of + " is over"))));
      killAt = -1;
      later.add(onKilled);
      end(victim, "was killed in call " + completed, later);
    }
  }

  private void reduce(Map<Member, Given> all, List<Member> got) {
    Given first = all.get(members.get(0));
    if (first.longs != null) {
      long[] result = new long[first.longs.length];
      int part = result.length / members.size();
      for (int rank = 0; rank < members.size(); rank++) {
        long[] its = all.get(members.get(rank)).longs;
        if (its == null || its.length != result.length) {
          throw new AssertionError("ranks make different calls");
        }
        if (first.root < 0) {
          System.arraycopy(its, rank * part, result, rank * part, part);
        }
      }
      long[] told = first.root < 0 ? result : all.get(members.get(first.root)).longs.clone();
      got.forEach(member -> System.arraycopy(told, 0, all.get(member).longs, 0, told.length));
      return;
    }
    float[] result = new float[first.floats.remaining()];
    for (int rank = 0; rank < members.size(); rank++) {
      FloatBuffer its = all.get(members.get(rank)).floats;
      if (its == null || its.remaining() != result.length) {
        throw new AssertionError("ranks make different calls");
      }
      for (int i = 0; i < result.length && (first.root < 0 || first.root == rank); i++) {
        result[i] += its.get(i);
      }
    }
    for (Member member : members) { // of a call that has failed the memory holds anything
      FloatBuffer its = all.get(member).floats;
      for (int i = 0; i < result.length; i++) {
        its.put(i, got.contains(member) ? result[i] : Float.NaN);
      }
    }
  }

  private CompletableFuture<Void> next(Member by) {
    List<Runnable> later = new ArrayList<>();
    CompletableFuture<Void> formed = new CompletableFuture<>();
    synchronized (this) {
      if (by.dead) {
        return CompletableFuture.failedFuture(new Cancelled("this rank is dead"));
      }
      long waiting = lobby.keySet().stream().filter(member -> !members.contains(member)).count();
      if (!members.contains(by) && members.size() + waiting >= max) {
        return CompletableFuture.failedFuture(new Conflict("the group is full"));
      }
      if (members.contains(by)) {
        breakUp(later, "rank " + by.rank + " forms the next one");
      }
      lobby.put(by, formed);
      formIfReady(later);
    }
    later.forEach(Runnable::run);
    return formed;
  }

  private void formIfReady(List<Runnable> later) {
    boolean ready = lobby.size() >= min && lobby.keySet().containsAll(members)
        && (generation > 0 && !members.isEmpty() || lobby.size() >= max);
    if (!ready) {
      return;
    }
    List<Member> next = new ArrayList<>(lobby.keySet());
    next.sort(Comparator.comparingInt(member -> member.rank < 0 ? Integer.MAX_VALUE : member.rank));
    generation++;
    over = false;
    members.clear();
    members.addAll(next);
    for (int rank = 0; rank < next.size(); rank++) {
      Member member = next.get(rank);
      member.rank = rank;
      member.worldSize = next.size();
      member.formed = generation;
      member.made = 0;
      CompletableFuture<Void> formed = lobby.get(member);
      later.add(() -> formed.complete(null));
    }
    lobby.clear();
    if (members.size() == max && whole != null) {
      CompletableFuture<Void> told = whole;
      whole = null;
      later.add(() -> told.complete(null));
    }
  }

  private void breakUp(List<Runnable> later, String why) {
    if (over) {
      return;
    }
    over = true;
    PeerLost lost = new PeerLost("generation " + generation + ": " + why);
    calls.values().forEach(call -> call.values().forEach(given -> later.add(() -> given.done.completeExceptionally(lost))));
    calls.clear();
  }

  private void end(Member member, String how) {
    List<Runnable> later = new ArrayList<>();
    synchronized (this) {
      end(member, how, later);
    }
    later.forEach(Runnable::run);
  }

  private void end(Member member, String how, List<Runnable> later) {
    if (member.dead) {
      return;
    }
    member.dead = true;
    if (members.contains(member)) {
      breakUp(later, "rank " + member.rank + " " + how);
      members.remove(member);
    }
    CompletableFuture<Void> waiting = lobby.remove(member);
    if (waiting != null) {
      later.add(() -> waiting.completeExceptionally(new Cancelled("this rank is dead")));
    }
    formIfReady(later);
  }
}
