package io.regatta.trainer.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.nn.Parameter;
import ai.djl.training.TrainingConfig;
import ai.djl.training.initializer.Initializer;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.util.Pair;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.compress.LocalSteps;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.trainer.config.AdaptiveLocalsgdConfigs;
import io.regatta.trainer.config.Communication;
import io.regatta.trainer.config.DgcConfigs;
import io.regatta.trainer.config.LocalsgdConfigs;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.DataCursor;
import io.regatta.trainer.session.ElasticRank;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.snapshot.Kept;
import io.regatta.trainer.snapshot.RankTensors;
import io.regatta.trainer.snapshot.StartingPoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a {@link FleetTrainer} comes to its exchange: checks, registration, start from rank 0's values. Model thread. */
public final class Enrolment {

  private static final Logger LOG = LoggerFactory.getLogger(Enrolment.class);
  /** More blocks than this would bury the log's other lines. */
  private static final int BLOCKS_LOGGED = 20;
  private static final int RANDOM_BITS = 12;
  private static final int ABSTAINS = 0;
  private static final int TRAINS = 1;

  private Enrolment() {}

  /** Checks model and configuration and does what {@code Model.newTrainer} does before it makes a trainer. */
  static Model prepared(Model model, TrainingConfig config) {
    Optimizer optimizer = config.getOptimizer();
    if (!(optimizer instanceof RegattaOptimizer)) {
      throw new InvalidInput("optimizer " + optimizer.getClass().getName() + " runs in the trainer only, but updates "
          + "are made on the servers: put one of io.regatta.trainer.djl.Sgd, Momentum, Adagrad, Adam, Ftrl (or "
          + "worker.optimizer(), the job file's) into the TrainingConfig with optOptimizer");
    }
    Device[] devices = config.getDevices();
    if (devices.length != 1 || !devices[0].equals(model.getNDManager().getDevice())) {
      throw new InvalidInput("a FleetTrainer trains on one device, the model's (" + model.getNDManager().getDevice()
          + "), but the TrainingConfig has " + List.of(devices) + "; use threads for several replicas");
    }
    if (model.getBlock() == null) {
      throw new InvalidInput("the model has no block: call model.setBlock before making a trainer");
    }
    for (Pair<Initializer, Predicate<Parameter>> pair : config.getInitializers()) {
      if (pair.getKey() != null && pair.getValue() != null) {
        model.getBlock().setInitializer(pair.getKey(), pair.getValue());
      }
    }
    Engines.current();
    return model;
  }

  /**
   * Registers the rank with the shards, once for all its replicas, whose models must agree; rank 0 sets the values that
   * everybody starts from, or all the others if it is lost before it could; returns when all ranks have come.
   *
   * @param drawn initial dense values of this replica
   */
  static Registered register(ReplicaContext replica, Strategy strategy, ModelSpec model, float[] drawn) {
    TrainerSession session = replica.session();
    String operation = "registration with the shards";
    Registered all = replica.group().collective(session, replica.replica(), operation, model, models -> {
      StartingPoint start = StartingPoint.of(session.job());
      refuseOtherCompression(session, strategy, start);
      if (session.trainer().rank() == 0 && session.job().hasPlace() && isBeginning(session)) {
        start.removeLeft(session.job()); // nobody trains before this rank has come to the end of this
      }
      ParameterClient registered = session.await(operation, session.connect(strategy, models.get(0)));
      boolean collective = session.peers().isPresent();
      if (session.trainer().rank() == 0 && !collective) {
        begin(session, registered, start, pushesPerStep(replica, strategy.mode()), drawn);
        logBlocks(registered);
      }
      if (session.elastic().isPresent()) {
        return elastic(session, registered, start, models.get(0), drawn);
      }
      refuseLedger(session, start);
      List<double[]> started = started(session, true, start.steps(), half(models.get(0), true), half(models.get(0), false));
      refuseAbsent(session, registered, started);
      refuseOtherStarts(session, started);
      if (collective) {
        refuseOtherModels(session, started);
        begin(session, registered, start, 1, ofTheFirst(session, drawn));
      } else if (started.get(0)[0] != 0 || started.get(0)[1] == ABSTAINS) { // no shard has its values, or some: all drew the same
        begin(session, registered, start, pushesPerStep(replica, strategy.mode()), drawn);
      }
      return new Registered(registered, start, run(start, (long) started.get(0)[3]));
    });
    session.await(operation, session.connect(strategy, model));
    return all;
  }

  private static String run(StartingPoint start, long number) {
    return start.resume() ? start.manifest().run() : String.format(Locale.ROOT, "%016x", number);
  }

  /** The same among the ranks of an elastic job; a newcomer has been given what the others have. */
  private static Registered elastic(TrainerSession session, ParameterClient registered, StartingPoint start, ModelSpec model,
      float[] drawn) {
    ElasticRank rank = session.elastic().orElseThrow();
    List<double[]> started = rank.calls().gather("start of all trainers",
        mine(session, true, start.steps(), half(model, true), half(model, false)));
    if (rank.run() == 0) {
      refuseOtherStarts(session, started);
      refuseOtherModels(session, started);
      rank.run((long) started.get(0)[3]);
    }
    rank.calls().ofTheFirst("initial values", drawn);
    if (!rank.isGiven()) {
      refuseOthersSnapshots(session, start);
      resumeAtPass(rank, start);
      begin(session, registered, start, 1, drawn);
    }
    return new Registered(registered, start, run(start, rank.run()));
  }

  /** Whether nobody trains yet: to an elastic job a rank may come later. */
  private static boolean isBeginning(TrainerSession session) {
    return session.elastic().map(rank -> rank.run() == 0).orElse(true);
  }

  /** Where a newcomer may find those of its own run this can be seen to only when it is known that the run begins. */
  private static void refuseOthersSnapshots(TrainerSession session, StartingPoint start) {
    if (session.job().snapshots().isOn()) {
      try {
        start.refuseOthersIn(StartingPoint.root(session.job()));
      } catch (IOException e) {
        throw new InvalidInput("job " + session.job().job() + ": its snapshots cannot be listed: " + e, e);
      }
    }
  }

  /** Within a pass the ledger says what had been trained, by whomever. */
  private static void resumeAtPass(ElasticRank rank, StartingPoint start) {
    if (!start.resume()) {
      return;
    }
    Kept kept = Kept.of(start);
    DataCursor cursor = start.cursor();
    if (kept.pass() >= 0) {
      rank.passes().resumeIn(kept.pass(), kept.ledger());
    } else if (cursor != null && cursor.beginsPass()) {
      rank.passes().resumeAt(cursor.pass());
    } else {
      throw new InvalidInput("an elastic job goes on from a snapshot that was taken behind a pass (snapshots.every_pass), or by an "
          + "elastic job, but " + start.dir() + " was taken within a pass of another one; name another snapshot, or leave out "
          + "collective.min_trainers");
    }
  }

  /** What dgc keeps for each rank has no place in a run without it, where the momentum is in the update rule. */
  private static void refuseOtherCompression(TrainerSession session, Strategy strategy, StartingPoint start) {
    boolean compresses = communication(session, strategy) instanceof DgcConfigs;
    if (!start.resume() || compresses == RankTensors.areIn(start)) {
      return;
    }
    String from = "job " + session.job().job() + ": " + start.dir() + " was taken by a run ";
    int before = start.manifest().trainers().size();
    if (!compresses) {
      throw new InvalidInput(from + "with dgc on " + before + " ranks, and has what these had not sent yet, but "
          + (session.worldSize() == 1 ? "one rank alone sends nothing" : "this one has no dgc") + "; go on with dgc and at least two "
          + "trainers, or begin anew from it with init_from");
    }
    if (!start.manifest().model().optimizer().equalsIgnoreCase(OptimizerSpec.Kind.SGD.name())) {
      throw new InvalidInput(from + (before == 1 ? "of one rank, which sends nothing" : "without dgc") + ", and with dgc the momentum is "
          + "each rank's own; go on " + (before == 1 ? "with one trainer" : "without dgc") + ", or begin anew from it with init_from");
    }
  }

  /** Who has trained what of a pass that ranks came to and left cannot be told in batches of each. */
  private static void refuseLedger(TrainerSession session, StartingPoint start) {
    if (start.resume() && Kept.of(start).pass() >= 0) {
      throw new InvalidInput("job " + session.job().job() + ": " + start.dir() + " was taken within a pass of an elastic job, and only "
          + "such a job can go on with the rest of that pass; give collective.min_trainers, or name a snapshot that was taken behind "
          + "a pass");
    }
  }

  /**
   * The client of a rank, and where its run begins.
   *
   * @param run by which the run's snapshots are told from others: all ranks have the same
   */
  record Registered(ParameterClient client, StartingPoint start, String run) {}

  /** Gives the shards the values that the run begins with; where they have some already nothing changes. */
  private static void begin(TrainerSession session, ParameterClient client, StartingPoint start, int pushesPerStep,
      float[] drawn) {
    boolean whole = false;
    if (start.isGiven()) {
      LOG.info("job {} {}", client.job().job(), start.describe());
      try {
        whole = session.await("reading of " + start.dir(), session.restore(
            new TrainerSession.RestoreOrder(start.dir(), start.resume(), start.steps() * pushesPerStep)));
      } catch (InvalidInput e) {
        throw start.withWayOn(e);
      }
    }
    if (!whole) {
      session.await("initialisation of the shards", client.initialize(drawn));
    }
  }

  /** Replicas that are merged push once in a step, others each for itself. */
  static int pushesPerStep(ReplicaContext replica, Mode mode) {
    return mode == Mode.ASYNC || mode == Mode.SSP ? replica.group().size() : 1;
  }

  /** Ranks that see different snapshots would not train the same job. */
  private static void refuseOtherStarts(TrainerSession session, List<double[]> started) {
    for (double[] of : started) {
      if (of[1] == TRAINS && of[2] != started.get(0)[2]) {
        throw new InvalidInput("job " + session.job().job() + ": trainer " + (int) started.get(0)[0] + " goes on at step "
            + (long) started.get(0)[2] + ", trainer " + (int) of[0] + " at step " + (long) of[2]
            + "; all must see the same snapshots: name a directory that they share");
      }
    }
  }

  /** Takes the part in the start of a rank that ends its run without having trained, so that the others can begin. */
  public static void abstain(TrainerSession session) {
    if (session.job().mode() == Mode.COLLECTIVE && session.worldSize() > 1) {
      throw new InvalidInput("job " + session.job().job() + ": the program made no trainer on rank " + session.trainer().rank()
          + ", but in mode collective every rank takes part in every step; make one on every rank");
    }
    started(session, false, 0, 0, 0);
  }

  /** The time, and random bits below it: runs that begin later have higher numbers. Exact in a double until 2039. */
  private static long newRun() {
    return System.currentTimeMillis() << RANDOM_BITS | ThreadLocalRandom.current().nextLong(1 << RANDOM_BITS);
  }

  /**
   * In rank order what each rank says of itself: its number, whether it trains, from which step on, a run's number, and the
   * halves of its model's digest. Waits for all.
   */
  private static List<double[]> started(TrainerSession session, boolean trains, long step, double high, double low) {
    return session.await("start of all trainers", session.gather("start", mine(session, trains, step, high, low)));
  }

  private static double[] mine(TrainerSession session, boolean trains, long step, double high, double low) {
    return new double[] {session.trainer().rank(), trains ? TRAINS : ABSTAINS, step, newRun(), high, low};
  }

  /** Where steps wait for every rank, they would wait for ever for one that makes none. */
  private static void refuseAbsent(TrainerSession session, ParameterClient client, List<double[]> started) {
    Mode mode = client.job().mode();
    boolean waits = mode == Mode.SYNC || mode == Mode.SSP || mode == Mode.HALF_ASYNC && session.job().aggregator();
    List<Integer> absent = started.stream().filter(of -> of[1] == ABSTAINS).map(of -> (int) of[0]).toList();
    if (waits && !absent.isEmpty()) {
      throw new InvalidInput("job " + client.job().job() + ": the program made no trainer on ranks " + absent
          + ", for whose steps the others would wait for ever in mode " + mode.name().toLowerCase(Locale.ROOT)
          + "; make one on every rank, or train with mode async, geo, or half_async without an aggregator");
    }
  }

  /** 32 bits of a model's digest, which a double holds. */
  private static double half(ModelSpec model, boolean high) {
    String digest = model.digest();
    int middle = digest.length() / 2;
    return Long.parseLong(high ? digest.substring(0, middle) : digest.substring(middle), 16);
  }

  /** Where there are servers, these refuse a trainer of another model. */
  private static void refuseOtherModels(TrainerSession session, List<double[]> started) {
    double[] first = started.get(0);
    for (double[] of : started) {
      if (of[4] != first[4] || of[5] != first[5]) {
        throw new InvalidInput("job " + session.job().job() + ": trainers " + (int) first[0] + " and " + (int) of[0]
            + " train different models (variables, shapes, optimizer or seed); start all with the same program and job");
      }
    }
  }

  /** Collective mode: what rank 0 has drawn, on every rank. */
  private static float[] ofTheFirst(TrainerSession session, float[] drawn) {
    ByteBuffer values = ByteBuffer.allocateDirect(Math.multiplyExact(drawn.length, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    values.asFloatBuffer().put(drawn);
    session.await("broadcast of initial values", session.peers().orElseThrow().broadcast(values, 0));
    float[] first = new float[drawn.length];
    values.asFloatBuffer().get(first);
    return first;
  }

  /** Rows of tables lie on servers, which collective mode has none of. */
  static void refuseTables(Strategy strategy, List<SparseTableSpec> tables) {
    if (strategy.mode() == Mode.COLLECTIVE && !tables.isEmpty()) {
      throw new InvalidInput("the model has a DistributedEmbedding (" + tables.get(0).name() + "), whose rows lie on servers, but "
          + "mode collective has none; choose another mode, or an embedding of DJL's whose rows are dense parameters");
    }
  }

  /** Which dense block lies where, once per job; of many only how many there are. */
  private static void logBlocks(ParameterClient client) {
    List<String> blocks = client.partition().describe();
    LOG.info("job {}: {} dense values in {} blocks on {} shard{}{}", client.job().job(), client.partition().numel(),
        blocks.size(), client.job().sharding().denseShards(), client.job().sharding().denseShards() == 1 ? "" : "s",
        blocks.size() > BLOCKS_LOGGED ? "; worker.serverShardMap() lists them" : "");
    if (blocks.size() <= BLOCKS_LOGGED) {
      blocks.forEach(LOG::info);
    }
  }

  private static Exchange elastically(ReplicaContext replica, Strategy strategy, ParameterClient client, StepTimes times) {
    TrainerSession session = replica.session();
    if (!(strategy.communication() instanceof Communication.AllReduce sums)) {
      throw new InvalidInput("job " + session.job().job() + " is elastic (collective.min_trainers), whose trainers exchange whole "
          + "gradients, and keep nothing of them that a newcomer would lack; take dgc, localsgd and adaptive_localsgd out");
    }
    ElasticExchange exchange = new ElasticExchange(replica, session.elastic().orElseThrow(), client, sums.wire(), times);
    replica.group().joinsBy(exchange::joinToTheEnd);
    LOG.info("job {}: {} dense values, exchanged in {} buckets among {} to {} trainers", client.job().job(),
        client.partition().numel(), exchange.plan().buckets().size(), session.job().fewestTrainers(),
        session.job().trainers());
    return exchange;
  }

  /** What the ranks tell each other; one rank alone has nobody to save bytes for. */
  private static Communication communication(TrainerSession session, Strategy strategy) {
    return session.worldSize() == 1 ? Communication.PLAIN : strategy.communication();
  }

  /** The update rule of the shards: what the exchange leaves of the program's. */
  static OptimizerSpec update(TrainerSession session, Strategy strategy, OptimizerSpec optimizer) {
    Communication communication = communication(session, strategy);
    if (communication instanceof DgcConfigs) {
      requireMomentum(optimizer, "dgc");
      if (optimizer.clipValue() > 0) {
        throw new InvalidInput("dgc sends what has been accumulated over many steps, to which clip_value does not apply; take it "
            + "out, or use clip_norm");
      }
      return LargestSum.update(optimizer);
    }
    if (!(communication instanceof Communication.AllReduce)) {
      requireMomentum(optimizer, "localsgd");
    }
    return optimizer;
  }

  /** As PaddlePaddle: what is accumulated, or averaged, is linear in the gradients with these only. */
  private static void requireMomentum(OptimizerSpec optimizer, String what) {
    if (optimizer.kind() != OptimizerSpec.Kind.SGD && optimizer.kind() != OptimizerSpec.Kind.MOMENTUM) {
      throw new InvalidInput(what + " trains with sgd and momentum only, but the optimizer is "
          + optimizer.kind().name().toLowerCase(Locale.ROOT) + "; choose one of these, or fp16_allreduce to send fewer bytes");
    }
  }

  /**
   * The exchange of the client's mode.
   *
   * @param optimizer the program's
   */
  static Exchange exchange(ReplicaContext replica, Strategy strategy, ParameterClient client, OptimizerSpec optimizer,
      StepTimes times) {
    if (replica.session().elastic().isPresent()) {
      return elastically(replica, strategy, client, times);
    }
    if (replica.session().peers().isPresent()) {
      Communication communication = communication(replica.session(), strategy);
      LocalSteps localSteps = localSteps(communication);
      if (localSteps != null) {
        LocalSgdExchange exchange = new LocalSgdExchange(replica, client, localSteps, times);
        replica.group().joinsBy(exchange::join);
        return exchange;
      }
      CollectiveExchange exchange = new CollectiveExchange(replica, client, communication, optimizer, times);
      replica.group().joinsBy(exchange::join);
      LOG.info("job {}: {} dense values in {} variables, exchanged in {} buckets", client.job().job(),
          client.partition().numel(), client.job().model().dense().size(), exchange.plan().buckets().size());
      return exchange;
    }
    if (client.job().mode() != Mode.GEO) {
      return new PushPullExchange(replica, client, times);
    }
    GeoRank state = replica.group().collective(replica.session(), replica.replica(), "start of geo mode", client,
        clients -> new GeoRank(replica.session(), clients.get(0), replica.group().steps(), strategy.kSteps()));
    return new GeoExchange(replica, state, times);
  }

  /** Null if the ranks exchange gradients in each step. */
  private static LocalSteps localSteps(Communication communication) {
    return communication instanceof LocalsgdConfigs fixed ? LocalSteps.fixed(fixed.kSteps(), fixed.beginStep())
        : communication instanceof AdaptiveLocalsgdConfigs adaptive
            ? LocalSteps.adaptive(adaptive.initKSteps(), adaptive.beginStep()) : null;
  }
}
