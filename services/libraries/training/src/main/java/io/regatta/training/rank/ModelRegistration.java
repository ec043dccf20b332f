package io.regatta.training.rank;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.nn.Parameter;
import ai.djl.training.TrainingConfig;
import ai.djl.training.initializer.Initializer;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.util.Pair;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.gather.StartReport;
import io.regatta.training.config.Strategy;
import io.regatta.training.exchange.Exchanges;
import io.regatta.training.model.Engines;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.RankTensors;
import io.regatta.training.snapshot.StartingPoint;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registration of a {@link FleetTrainer} in a run: checks, registration with the shards, start from rank 0's values
 * or a snapshot. Used on the model thread.
 */
public final class ModelRegistration {

  private static final Logger LOG = LoggerFactory.getLogger(ModelRegistration.class);
  /** Most blocks that are logged one by one; more would hide the log's other lines. */
  private static final int BLOCKS_LOGGED = 20;

  private ModelRegistration() {}

  /**
   * Checks model and configuration, and prepares the model as {@code Model.newTrainer} does before it creates a
   * trainer.
   */
  static Model prepared(Model model, TrainingConfig config) {
    Optimizer optimizer = config.getOptimizer();
    if (!(optimizer instanceof RegattaOptimizer)) {
      throw new InvalidInput("optimizer " + optimizer.getClass().getName() + " runs in the trainer only, but updates "
          + "are made on the servers: put worker.optimizer(), the job file's, or a "
          + RegattaOptimizer.class.getName() + " into the TrainingConfig with optOptimizer");
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
   * Registers the rank with the shards, once for all its replicas, whose models must agree. Rank 0 sets the values from
   * which all start; if it is lost before it could, all others do. Returns when all ranks have registered.
   *
   * @param passes of this replica
   * @param drawn initial dense values of this replica
   */
  static Registered register(ReplicaContext replica, Strategy strategy, TrainingPasses passes, ModelSpec model, float[] drawn) {
    TrainerSession session = replica.session();
    String job = session.job().job();
    String operation = "registration with the shards";
    Registered all = replica.group().collective(session, replica.replica(), operation, model, models -> {
      StartingPoint start = StartingPoint.of(session.job());
      start.requireFeatures(job, session.features().digest());
      refuseOtherCompression(session, strategy, start);
      if (session.trainer().rank() == 0 && session.job().hasPlace() && isBeginning(session)) {
        start.removeLeft(session.job()); // no rank trains before rank 0 has finished here
      }
      ParameterClient registered = session.await(operation, session.connect(strategy, models.get(0)));
      if (session.trainer().rank() == 0 && !session.isCollective()) {
        begin(session, registered, start, at(replica, strategy, start), drawn);
        logBlocks(registered);
      }
      passes.requireResumable(start);
      List<StartReport> started = started(session, StartReports.training(session, start.steps(), models.get(0)));
      if (session.isCollective()) {
        return amongRanks(session, registered, passes, start, started, drawn);
      }
      StartReport first = started.get(0);
      StartReports.requireAllTrain(job, registered.job().mode(), session.job().aggregator(), started);
      StartReports.requireSameStep(job, started);
      if (first.getRank() != 0 || !first.getTrains()) { // some shards lack its values, and all drew the same
        begin(session, registered, start, at(replica, strategy, start), drawn);
      }
      return new Registered(registered, start, run(start, first.getRun()));
    });
    session.await(operation, session.connect(strategy, model));
    return all;
  }

  private static String run(StartingPoint start, long number) {
    return start.resume() ? start.manifest().run() : String.format(Locale.ROOT, "%016x", number);
  }

  /**
   * Starts a collective rank: all begin with the values of rank 0, and a newcomer to an elastic job with those that it
   * received.
   */
  private static Registered amongRanks(TrainerSession session, ParameterClient registered, TrainingPasses passes,
      StartingPoint start, List<StartReport> started, float[] drawn) {
    RankOperations ranks = session.ranks().orElseThrow();
    if (ranks.run() == 0) {
      String job = session.job().job();
      StartReports.requireAllTrain(job, registered.job().mode(), false, started);
      StartReports.requireSameStep(job, started);
      StartReports.requireSameModel(job, started);
      ranks.run(started.get(0).getRun());
    }
    ranks.calls().ofTheFirst("broadcast of initial values", drawn);
    if (!ranks.isGiven()) {
      passes.begin(start);
      begin(session, registered, start, start.at(1, 1, 1), drawn);
    }
    return new Registered(registered, start, run(start, ranks.run()));
  }

  /** Returns true if no rank trains yet: a rank may join an elastic job later. */
  private static boolean isBeginning(TrainerSession session) {
    return session.ranks().map(rank -> rank.run() == 0).orElse(true);
  }

  /**
   * Refuses to change dgc at a resume: its per-rank state has no place in a run without it, where the momentum is in
   * the update rule.
   */
  private static void refuseOtherCompression(TrainerSession session, Strategy strategy, StartingPoint start) {
    boolean compresses = Exchanges.compresses(session, strategy);
    if (!start.resume() || compresses == RankTensors.areIn(start)) {
      return;
    }
    String from = "job " + session.job().job() + ": " + start.dir() + " was taken by a run ";
    int before = start.manifest().trainers().size();
    if (!compresses) {
      throw new InvalidInput(from + "with dgc on " + before + " ranks, and has what these had not sent yet, but "
          + (session.worldSize() == 1 ? "one rank alone sends nothing" : "this one has no dgc") + "; resume with dgc and at least two "
          + "trainers, or start a new run from it with init_from");
    }
    if (!start.manifest().model().optimizer().equals(OptimizerSpec.sgd(0).name())) {
      throw new InvalidInput(from + (before == 1 ? "of one rank, which sends nothing" : "without dgc") + ", and with dgc the momentum is "
          + "each rank's own; resume " + (before == 1 ? "with one trainer" : "without dgc") + ", or start a new run from it with init_from");
    }
  }

  /**
   * A registered rank: its client, and the start of its run.
   *
   * @param run id that distinguishes the run's snapshots from others; the same on all ranks
   */
  record Registered(ParameterClient client, StartingPoint start, String run) {}

  /** Returns the position of the run for the shards, which keep it for each rank. */
  static ResumePoint at(ReplicaContext replica, Strategy strategy, StartingPoint start) {
    return start.at(replica.session().worldSize(), replica.group().size(), replica.pushesPerStep(strategy.mode()));
  }

  /** Sets the values with which the run begins on the shards; shards that have values do not change. */
  private static void begin(TrainerSession session, ParameterClient client, StartingPoint start, ResumePoint at, float[] drawn) {
    boolean whole = false;
    if (start.isGiven()) {
      LOG.info("job {} {}", client.job().job(), start.describe());
      try {
        whole = session.await("reading of " + start.dir(), session.restore(
            new TrainerSession.RestoreOrder(start.dir(), start.resume(), at)));
      } catch (InvalidInput e) {
        throw start.explain(e);
      }
    }
    if (!whole) {
      session.await("initialisation of the shards", client.initialize(drawn));
    }
  }

  /** Takes part in the start with a rank that ends its run without having trained, so that the others can begin. */
  public static void abstain(TrainerSession session) {
    if (!session.job().mode().needsServers() && session.worldSize() > 1) {
      throw new InvalidInput("job " + session.job().job() + ": the program made no trainer on rank " + session.trainer().rank()
          + ", but in mode collective every rank takes part in every step; make one on every rank");
    }
    started(session, StartReports.abstaining(session));
  }

  /** Waits for all ranks and returns their starts in rank order. */
  private static List<StartReport> started(TrainerSession session, StartReport mine) {
    return session.calls().gather("start of all trainers", "start", mine);
  }

  /** Logs the placement of dense blocks, once per job; if there are many, only their number. */
  private static void logBlocks(ParameterClient client) {
    List<String> blocks = client.partition().describe();
    LOG.info("job {}: {} dense values in {} blocks on {} shard{}{}", client.job().job(), client.partition().numel(),
        blocks.size(), client.job().sharding().denseShards(), client.job().sharding().denseShards() == 1 ? "" : "s",
        blocks.size() > BLOCKS_LOGGED ? "; worker.serverShardMap() lists them" : "");
    if (blocks.size() <= BLOCKS_LOGGED) {
      blocks.forEach(LOG::info);
    }
  }
}
