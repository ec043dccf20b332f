package io.regatta.training.exchange.push;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.Stages;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.strategy.TrainerStrategy;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The exchange of sync, half-async, async, lazy-async, ssp and downpour: a step pushes gradients and pulls values, or
 * does so only every few steps. Belongs to a replica's model thread.
 *
 * <p>In sync and half-async the replicas of a rank are merged first ({@code RoundReducer}'s rule) and push once; in
 * async and ssp each pushes on its own. In sync the next batch's rows are pulled together with the dense vector, after
 * the push. In the other modes they are requested while backward still runs, so they may lack this step's own update.
 * In async with {@code overlap} the dense vector is requested then too, and the push is not awaited: it is in progress
 * while the next step computes. In downpour a step that does not push adds its gradients to those of the next push.
 */
public final class PushPullExchange implements Exchange {

  /** The contribution of a replica to a merged step. */
  private record Contribution(int replica, Gradients gradients, List<SparseIds> next, long[] versions,
      boolean pullDue) {}

  /** The result of a step for every replica that took part. */
  private record Outcome(long step, DenseMemory dense, Map<String, Rows> rows, long[] versions) {}

  private final ReplicaContext replica;
  private final TrainerSession session;
  private final ParameterClient client;
  private final RankSteps steps;
  private final StepTimes times;
  private final Mode mode;
  /** True if the values of a step are pulled before the push of the step before it. */
  private final boolean overlap;
  /** True if heter workers have the dense values, which are read here when they are asked for. */
  private final boolean elsewhere;
  private final int stepsPerPull;
  /** The gradients that are not pushed yet; with {@code overlap} each step pushes its own. */
  private final AccruedGradients accrued;
  /** Pushes per step: if each replica pushes for itself, a step of the rank is one batch of each of them. */
  private final int pushesPerStep;
  private final List<Integer> itself;
  private final Map<String, Integer> dims;
  /**
   * Memory of pulled dense values, read by all replicas that took part in the step. The next pull into it is requested
   * in a later step, which a replica begins when it has read them.
   */
  private final DenseMemory values;

  /** The result of the last pull: these values, or those of the replica that pulled for all. */
  private DenseMemory dense;
  private Map<String, Rows> rows = new HashMap<>();
  private List<SparseIds> wished = List.of();
  private CompletableFuture<Values> ahead;
  /** With {@code overlap}: the push of the last step; null once it has been acknowledged. */
  private CompletableFuture<ParameterClient.Pushed> underWay;
  private long[] versions;
  private long valuesOf;
  /** Steps that this replica has made since its last pull of dense values. */
  private int stepsSincePull;

  public PushPullExchange(ReplicaContext replica, ParameterClient client, TrainerStrategy strategy, StepTimes times) {
    this.replica = replica;
    this.client = client;
    this.times = times;
    session = replica.session();
    steps = replica.group().steps();
    mode = strategy.mode();
    overlap = strategy.overlap();
    elsewhere = session.isDenseElsewhere();
    stepsPerPull = strategy.stepsPerPull();
    accrued = new AccruedGradients(strategy.stepsPerPush());
    pushesPerStep = replica.pushesPerStep(mode);
    steps.pushesPerStep(pushesPerStep);
    steps.stepsPerPush(strategy.stepsPerPush());
    itself = List.of(replica.replica());
    values = DenseMemory.of(ByteBuffer.allocateDirect(Math.multiplyExact(client.partition().numel(), Float.BYTES)));
    dims = new HashMap<>();
    client.job().model().sparse().forEach(t -> dims.put(t.name(), t.dim()));
  }

  @Override
  public DenseMemory start() {
    return pullDense("pull of initial values");
  }

  @Override
  public int underWay() {
    return overlap ? 1 : 0;
  }

  private DenseMemory pullDense(String operation) {
    long made = steps.made();
    Values v = await(operation, client.pull(made, values, List.of(), false));
    noteLead(v);
    versions = v.versions();
    valuesOf = made;
    stepsSincePull = 0;
    dense = values;
    return current();
  }

  @Override
  public DenseMemory current() {
    if (elsewhere) {
      values.set(await("reading of dense values", client.read(true, List.of())).dense());
    }
    return dense;
  }

  @Override
  public float[] rows(String table, int dim, long[] ids) {
    takePrefetched();
    float[] same = rows.containsKey(table) ? rows.get(table).of(ids) : null;
    if (same != null) {
      return same;
    }
    float[] out = new float[ids.length * dim];
    LongArrayList missing = fill(table, dim, ids, out);
    if (!missing.isEmpty()) {
      SparseIds wish = new SparseIds(table, missing.toLongArray());
      long made = steps.made();
      keep(await("pull of rows of table " + table + " for step " + made,
          client.pull(made, null, List.of(wish), false)), List.of(wish));
      if (!fill(table, dim, ids, out).isEmpty()) {
        throw new IllegalStateException("the shards did not answer with all rows of table " + table);
      }
    }
    return out;
  }

  /** Copies the rows that are here; returns the ids that are not. */
  private LongArrayList fill(String table, int dim, long[] ids, float[] out) {
    Rows have = rows.get(table);
    LongArrayList missing = new LongArrayList();
    for (int i = 0; i < ids.length; i++) {
      if (have == null || !have.copy(ids[i], out, i * dim)) {
        missing.add(ids[i]);
      }
    }
    return missing;
  }

  private void takePrefetched() {
    if (ahead != null) {
      CompletableFuture<Values> pulled = ahead;
      ahead = null;
      keep(await("pull of rows for step " + steps.made(), pulled), wished);
    }
  }

  private void keep(Values v, List<SparseIds> asked) {
    noteLead(v);
    keepOldest(v.versions());
    for (int i = 0; i < asked.size(); i++) {
      String table = asked.get(i).table();
      Rows fresh = new Rows(asked.get(i).ids(), v.sparse().get(i).values(), dims.get(table));
      rows.merge(table, fresh, Rows::and);
    }
  }

  /** Keeps the oldest versions: staleness is measured against the oldest values on which a gradient was computed. */
  private void keepOldest(long[] other) {
    if (versions == null) {
      versions = other;
      return;
    }
    long[] oldest = versions.clone();
    for (int s = 0; s < oldest.length; s++) {
      oldest[s] = Math.min(oldest[s], other[s]);
    }
    versions = oldest;
  }

  @Override
  public float[] evaluationRows(String table, int dim, long[] ids) {
    return await("pull of rows of table " + table + " for evaluation",
        client.read(false, List.of(new SparseIds(table, ids)))).sparse().get(0).values();
  }

  @Override
  public void prefetch(List<SparseIds> next) {
    List<SparseIds> missing = isPullDue() ? next : missing(next);
    if (overlap || !mode.hasRounds() && !missing.isEmpty()) {
      wished = missing;
      ahead = client.pull(steps.made() + 1, overlap ? values : null, missing, false);
    }
  }

  /** Returns true if the step that this replica is in ends with a pull. */
  private boolean isPullDue() {
    return stepsSincePull + 1 >= stepsPerPull;
  }

  /** Returns the ids of those rows that are not here. */
  private List<SparseIds> missing(List<SparseIds> next) {
    List<SparseIds> missing = new ArrayList<>();
    for (SparseIds s : next) {
      Rows have = rows.get(s.table());
      SparseIds left = have == null ? s : new SparseIds(s.table(), have.without(s.ids()));
      if (left.ids().length > 0) {
        missing.add(left);
      }
    }
    return missing;
  }

  @Override
  public DenseMemory step(Gradients gradients, List<SparseIds> next) {
    if (overlap) {
      return pushWithOverlap(gradients);
    }
    accrued.add(gradients, versions);
    if (!accrued.isDue()) {
      return stepWithoutPush();
    }
    Contribution mine = contribution(mode.hasRounds() ? next : List.of(), isPullDue());
    String operation = "step " + steps.steps();
    Optional<Outcome> pulled = merged() && replica.group().size() > 1
        ? replica.group().step(session, replica.replica(), operation, mine, this::pushAndPull)
        : pushAndPull(List.of(mine));
    stepsSincePull++;
    pulled.ifPresent(o -> {
      dense = o.dense();
      rows = new HashMap<>(o.rows());
      versions = o.versions();
      valuesOf = o.step();
      stepsSincePull = 0;
    });
    return dense;
  }

  private Contribution contribution(List<SparseIds> next, boolean pullDue) {
    AccruedGradients.Due due = accrued.take();
    return new Contribution(replica.replica(), due.gradients(), next, due.versions(), pullDue);
  }

  /** Ends a step whose gradients wait for a later push. */
  private DenseMemory stepWithoutPush() {
    if (!isPullDue()) {
      stepsSincePull++;
      return dense;
    }
    rows = new HashMap<>();
    return pullDense("pull without a push after step " + steps.steps());
  }

  /**
   * Sends the push and takes the values that were requested while backward ran. They contain all earlier pushes of this
   * replica, because a link's requests are taken in order, and lack this one. But of rows that a shard copies in
   * several time slices, those of later slices may contain it.
   */
  private DenseMemory pushWithOverlap(Gradients g) {
    awaitPush();
    if (ahead == null) { // a step without a batch, before which nobody has requested values
      prefetch(List.of());
    }
    long[] computedOn = versions;
    long begin = session.clock().nanos();
    underWay = steps.next(itself,
        (step, after) -> client.push(step, g.examples(), computedOn, g.dense(), g.sparse(), after));
    times.span("hand the push over", begin);
    if (underWay.isDone()) {
      awaitPush(); // refused before it was sent, or already applied
    }
    CompletableFuture<Values> pulled = ahead;
    ahead = null;
    rows = new HashMap<>();
    versions = null;
    valuesOf = steps.made();
    Values v = await("pull of values for step " + valuesOf, pulled);
    keep(v, wished);
    return values;
  }

  /** Waits for the last push: at most one is in progress. */
  private void awaitPush() {
    if (underWay != null) {
      CompletableFuture<ParameterClient.Pushed> pushed = underWay;
      underWay = null;
      ParameterClient.Pushed ack = await("push of step " + (steps.made() - 1), pushed);
      steps.acknowledged(ack.staleness(), ack.skippedPush());
    }
  }

  private boolean merged() {
    return mode.mergesReplicas();
  }

  /** Notes the lead. Shards count pushes; the lead is reported in steps, including begun ones. */
  private void noteLead(Values v) {
    steps.pulled((v.clockLead() + pushesPerStep - 1) / pushesPerStep);
  }

  /** Runs on the leader's thread for all who came; pulls if a pull is due for any of them. */
  private Optional<Outcome> pushAndPull(List<Contribution> all) {
    Gradients g = Gradients.merge(all.stream().map(Contribution::gradients).toList());
    List<SparseIds> wish = union(all);
    long[] oldest = all.get(0).versions().clone();
    for (Contribution c : all) {
      for (int s = 0; s < oldest.length; s++) {
        oldest[s] = Math.min(oldest[s], c.versions()[s]);
      }
    }
    CompletableFuture<ParameterClient.Pushed> pushed = steps.next(all.stream().map(Contribution::replica).toList(),
        (step, after) -> client.push(step, g.examples(), oldest, g.dense(), g.sparse(), after));
    long made = steps.made();
    if (all.stream().noneMatch(Contribution::pullDue)) {
      ParameterClient.Pushed ack = await("push of step " + (made - 1), pushed);
      steps.acknowledged(ack.staleness(), ack.skippedPush());
      return Optional.empty();
    }
    CompletableFuture<Values> pulled = client.pull(made, values, wish, false);
    ParameterClient.Pushed ack = await("push and pull of step " + (made - 1), Stages.both(pushed, pulled));
    steps.acknowledged(ack.staleness(), ack.skippedPush());
    Values v = pulled.join();
    noteLead(v);
    Map<String, Rows> fresh = new LinkedHashMap<>();
    for (int i = 0; i < wish.size(); i++) {
      String table = wish.get(i).table();
      fresh.put(table, new Rows(wish.get(i).ids(), v.sparse().get(i).values(), dims.get(table)));
    }
    return Optional.of(new Outcome(made, values, fresh, v.versions()));
  }

  /** Returns the rows that any replica needs next, each table once. */
  private static List<SparseIds> union(List<Contribution> all) {
    if (all.size() == 1) {
      return all.get(0).next();
    }
    Map<String, LongLinkedOpenHashSet> tables = new LinkedHashMap<>();
    for (Contribution c : all) {
      for (SparseIds s : c.next()) {
        LongLinkedOpenHashSet ids = tables.computeIfAbsent(s.table(), t -> new LongLinkedOpenHashSet());
        for (long id : s.ids()) {
          ids.add(id);
        }
      }
    }
    List<SparseIds> union = new ArrayList<>(tables.size());
    tables.forEach((table, ids) -> union.add(new SparseIds(table, ids.toLongArray())));
    return union;
  }

  @Override
  public DenseMemory resumed() {
    if (valuesOf == steps.made()) {
      return null;
    }
    return newest();
  }

  /** Waits for the last push, which may still be in progress, and pushes the gradients of steps that have not pushed. */
  @Override
  public void handIn() {
    awaitPush();
    if (accrued.isPending()) {
      pushAndPull(List.of(contribution(List.of(), false)));
    }
  }

  @Override
  public DenseMemory newest() {
    rows = new HashMap<>();
    ahead = null;
    return pullDense("pull of the newest values");
  }

  @Override
  public float[] last() {
    return values.toArray();
  }

  private <T> T await(String operation, CompletableFuture<T> future) {
    long begin = session.clock().nanos();
    String peers = times.traced() ? client.unanswered().values().toString() : "";
    try {
      return session.await(operation, future);
    } finally {
      times.add(StepTimes.Part.PULL, session.clock().nanos() - begin);
      times.span("wait: " + operation, begin, Map.of("waits_for", peers));
    }
  }
}
