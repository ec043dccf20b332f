package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;

/**
 * One sparse table in the section {@code tables} of a job file, by its name. A value given here overrides the
 * program's; a subsection without a choice leaves the program's unchanged.
 */
public record TableConfig(
    @Setting(value = "0", doc = "Values per row. 0: the program's. A program that builds its network for another width "
        + "refuses it.")
    int dim,

    @Setting(doc = "Birth of a row.")
    Initial initializer,

    @Setting(doc = "Update rule of the rows; without kind: the program's, or else the job's.")
    OptimizerConfig optimizer,

    @Setting(doc = "How rows come and go.")
    LifeConfig life) {

  /** The initial values of a row. */
  public record Initial(
      @Setting(value = "auto", doc = "Distribution; auto: the program's.")
      Kind kind,

      @Setting(value = "0", doc = "constant: the value; uniform: lower bound; normal: mean.")
      double a,

      @Setting(value = "0", doc = "uniform: upper bound; normal: standard deviation.")
      double b) {

    /** Distributions, and AUTO for no choice. */
    public enum Kind { AUTO, CONSTANT, UNIFORM, NORMAL }

    public Initial {
      if (kind == Kind.AUTO && (a != 0 || b != 0)) {
        throw new InvalidInput("give kind too (constant, uniform or normal): without it a and b have no meaning");
      }
    }

    private InitializerSpec or(InitializerSpec program) {
      return kind == Kind.AUTO ? program
          : new InitializerSpec(InitializerSpec.Kind.valueOf(kind.name()), (float) a, (float) b);
    }
  }

  /** The admission and expiry of rows. See {@link TableLife}. */
  public record LifeConfig(
      @Setting(value = "false", doc = "Each row has show and click counts: trainers count in how many places of a batch an "
          + "id stands, and the labels there, and push both with the gradient.")
      boolean statistics,

      @Setting(value = "0.98", doc = "Factor of show and click at each shrink.")
      double decay,

      @Setting(value = "0.1", doc = "Score of a row: (show - click) * nonclick_coefficient + click * click_coefficient.")
      double nonclickCoefficient,

      @Setting(value = "1", doc = "See nonclick_coefficient.")
      double clickCoefficient,

      @Setting(value = "0", unit = "pulls", doc = "Training pulls until a row is initialised; before, it reads as zeros "
          + "and its gradients are dropped. 0: the first one. In sync mode all trainers' pulls for a step count as one.")
      int admitCount,

      @Setting(value = "1", doc = "Probability that a training pull admits a row (in Paddle: that it rejects it).")
      double admitProbability,

      @Setting(value = "0", doc = "A shrink removes rows of a lower score. 0: none.")
      double shrinkScore,

      @Setting(value = "0", unit = "days", doc = "A shrink removes rows that no training pull has named for more ends of "
          + "day. 0: none.")
      int shrinkUnseenDays,

      @Setting(value = "0", unit = "s", doc = "A shrink removes rows that no training pull has named for longer, in time "
          + "of training: a stopped job's rows do not age. 0: none.")
      long ttlS) {

    public LifeConfig {
      life(statistics, decay, nonclickCoefficient, clickCoefficient, admitCount, admitProbability, shrinkScore,
          shrinkUnseenDays, ttlS);
    }

    private TableLife or(TableLife program) {
      return equals(Settings.defaults(LifeConfig.class)) ? program : life(statistics, decay, nonclickCoefficient,
          clickCoefficient, admitCount, admitProbability, shrinkScore, shrinkUnseenDays, ttlS);
    }

    private static TableLife life(boolean statistics, double decay, double nonclick, double click, int count,
        double probability, double score, int unseen, long ttl) {
      return new TableLife(statistics, (float) decay, (float) nonclick, (float) click, count, (float) probability,
          (float) score, unseen, ttl);
    }
  }

  public TableConfig {
    if (dim < 0) {
      throw new InvalidInput("dim must be at least 1, or 0 for the program's, not " + dim);
    }
  }

  /**
   * Returns the program's table with this section's values.
   *
   * @param program the table as the program declares it
   * @param replicas of all trainers, for linear scaling of rates
   */
  public SparseTableSpec over(SparseTableSpec program, int replicas) {
    if (dim > 0 && dim != program.dim()) {
      throw new InvalidInput("tables." + program.name() + ".dim is " + dim + ", but the program has built its network for "
          + program.dim() + "; take the key out, or have the program build the block with optJob(worker.job())");
    }
    return new SparseTableSpec(program.name(), program.dim(), initializer.or(program.initializer()),
        optimizer.isChosen() ? optimizer.toSpec(replicas) : program.optimizer(),
        life.or(program.life()));
  }
}
