package io.regatta.protocol.message;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.tensor.Hyperparameter;
import io.regatta.protocol.tensor.Optimizer;
import io.regatta.protocol.tensor.RegisterTrainer;
import io.regatta.protocol.tensor.SparseTable;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/** A {@link JobSpec} as it travels in a registration, and back. */
public final class JobSpecs {

  private JobSpecs() {}

  /** The message for a job; the job's name travels in {@code TensorMessage.job}. */
  public static RegisterTrainer toProto(JobSpec job) {
    ModelSpec model = job.model();
    RegisterTrainer.Builder b = RegisterTrainer.newBuilder()
        .setMode(RegisterTrainer.Mode.valueOf(job.mode().name())).setTrainers(job.trainers())
        .setStalenessBound(job.stalenessBound())
        .setNanPolicy(RegisterTrainer.NanPolicy.valueOf(job.nanPolicy().name())).setShards(job.shards())
        .setSparseShards(job.sharding().sparsePerServer()).setShardsPerServer(job.sharding().perServer())
        .setMinBlock(job.minBlock()).setSeed(model.seed()).setDenseOptimizer(toProto(model.denseOptimizer()));
    for (DenseVariable v : model.dense()) {
      b.addDense(io.regatta.protocol.tensor.DenseVariable.newBuilder().setName(v.name()).addAllShape(v.shape()));
    }
    for (SparseTableSpec t : model.sparse()) {
      b.addSparse(SparseTable.newBuilder().setName(t.name()).setDim(t.dim())
          .setInitializer(SparseTable.Initializer.valueOf(t.initializer().kind().name()))
          .setInitializerA(t.initializer().a()).setInitializerB(t.initializer().b())
          .setOptimizer(toProto(t.optimizer())));
      if (!t.life().equals(TableLife.NONE)) {
        b.getSparseBuilder(b.getSparseCount() - 1).setLife(toProto(t.life()));
      }
    }
    return b.build();
  }

  /**
   * The job that a message announces.
   *
   * @throws InvalidInput naming the field that makes no sense
   */
  public static JobSpec ofProto(String job, RegisterTrainer m) {
    Map<Optimizer, OptimizerSpec> optimizers = new HashMap<>(); // thousands of tables have few different ones
    Function<Optimizer, OptimizerSpec> optimizer = o -> optimizers.computeIfAbsent(o, JobSpecs::ofProto);
    ModelSpec model = new ModelSpec(m.getSeed(),
        m.getDenseList().stream().map(v -> new DenseVariable(v.getName(), v.getShapeList())).toList(),
        m.getDenseCount() == 0 && !m.hasDenseOptimizer() ? OptimizerSpec.sgd(0) : optimizer.apply(m.getDenseOptimizer()),
        m.getSparseList().stream().map(t -> new SparseTableSpec(t.getName(), t.getDim(),
            new InitializerSpec(parse(InitializerSpec.Kind.class, "initializer", t.getInitializer()),
                t.getInitializerA(), t.getInitializerB()),
            optimizer.apply(t.getOptimizer()), t.hasLife() ? ofProto(t.getLife()) : TableLife.NONE)).toList());
    return new JobSpec(job, parse(Mode.class, "mode", m.getMode()), m.getTrainers(), m.getStalenessBound(),
        parse(NanPolicy.class, "nan_policy", m.getNanPolicy()),
        new Sharding(m.getShards(), m.getShardsPerServer(), m.getSparseShards()), m.getMinBlock(), model);
  }

  private static io.regatta.protocol.tensor.TableLife toProto(TableLife l) {
    return io.regatta.protocol.tensor.TableLife.newBuilder().setStatistics(l.statistics()).setDecay(l.decay())
        .setNonclickCoefficient(l.nonclickCoefficient()).setClickCoefficient(l.clickCoefficient())
        .setAdmitCount(l.admitCount()).setAdmitProbability(l.admitProbability()).setShrinkScore(l.shrinkScore())
        .setShrinkUnseenDays(l.shrinkUnseenDays()).setTtlS(l.ttlSeconds()).build();
  }

  private static TableLife ofProto(io.regatta.protocol.tensor.TableLife l) {
    boolean counted = l.getStatistics(); // without, what scores are made of may be left out; 0 is no probability of admission
    return new TableLife(counted, counted ? l.getDecay() : TableLife.NONE.decay(),
        counted ? l.getNonclickCoefficient() : TableLife.NONE.nonclickCoefficient(),
        counted ? l.getClickCoefficient() : TableLife.NONE.clickCoefficient(),
        l.getAdmitCount(), l.getAdmitProbability() == 0 ? 1 : l.getAdmitProbability(), l.getShrinkScore(),
        l.getShrinkUnseenDays(), l.getTtlS());
  }

  private static Optimizer toProto(OptimizerSpec o) {
    LearningRate r = o.learningRate();
    Optimizer.Builder b = Optimizer.newBuilder().setKind(o.name()).setWeightDecay(o.weightDecay())
        .setClipValue(o.clipValue()).setClipNorm(o.clipNorm())
        .setLearningRate(io.regatta.protocol.tensor.LearningRate.newBuilder()
            .setKind(io.regatta.protocol.tensor.LearningRate.Kind.valueOf(r.kind().name())).setBase(r.base()).setDecaySteps(r.decaySteps())
            .setDecayRate(r.decayRate()).setStaircase(r.staircase())
            .addAllBoundaries(r.boundaries()).addAllValues(r.values()).setModelDim(r.modelDim())
            .setMinimum(r.minimum()).setWarmupSteps(r.warmupSteps()).setWarmupStart(r.warmupStart()));
    o.hyperparameters().forEach((key, value) -> b.putHyperparameters(key, value instanceof Boolean flag
        ? Hyperparameter.newBuilder().setFlag(flag).build() : Hyperparameter.newBuilder().setNumber((Float) value).build()));
    return b.build();
  }

  private static OptimizerSpec ofProto(Optimizer o) {
    io.regatta.protocol.tensor.LearningRate r = o.getLearningRate();
    LearningRate rate = new LearningRate(parse(LearningRate.Kind.class, "learning_rate.kind", r.getKind()), r.getBase(),
        r.getDecaySteps(), r.getDecayRate(), r.getStaircase(), r.getBoundariesList(), r.getValuesList(),
        r.getModelDim(), r.getMinimum(), r.getWarmupSteps(), r.getWarmupStart());
    Map<String, Object> hyperparameters = new LinkedHashMap<>();
    o.getHyperparametersMap().forEach((key, h) -> hyperparameters.put(key, value(key, h)));
    return new OptimizerSpec(OptimizerRegistry.named(o.getKind()).of(hyperparameters), rate, o.getWeightDecay(),
        o.getClipValue(), o.getClipNorm());
  }

  private static Object value(String key, Hyperparameter h) {
    return switch (h.getValueCase()) {
      case NUMBER -> h.getNumber();
      case FLAG -> h.getFlag();
      case VALUE_NOT_SET -> throw new InvalidInput("registration: hyperparameter '" + key + "' has no value");
    };
  }

  /** Returns our constant for one of the protocol's. */
  private static <E extends Enum<E>> E parse(Class<E> type, String field, Enum<?> constant) {
    for (E e : type.getEnumConstants()) {
      if (e.name().equals(constant.name())) {
        return e;
      }
    }
    throw new InvalidInput("registration: " + field + " is " + constant + " but must be one of "
        + Stream.of(constant.getDeclaringClass().getEnumConstants()).map(Enum::name)
            .filter(name -> !name.endsWith("UNSPECIFIED") && !name.equals("UNRECOGNIZED")).toList());
  }
}
