package io.regatta.training.heter;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.config.JobConfig;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The comparison of what crosses a cut on both of its sides. Stateless; any thread may use it.
 */
public final class CutSignatures {

  private static final String REPAIR = "; start all processes with the same job and program";

  private CutSignatures() {}

  /**
   * Compares what a trainer sends with what a heter worker expects.
   *
   * @param job of the heter worker
   * @param own of the heter worker, as its {@link PartHost} got it
   * @param open of the trainer
   * @param trainer for messages, such as {@code trainer 1}
   * @throws InvalidInput if they differ
   */
  public static void check(JobConfig job, CutSignature own, CutOpen open, String trainer) {
    String where = "job " + job.job() + ": ";
    if (!open.getProgram().equals(job.program()) && !open.getProgram().isEmpty() && !job.program().isEmpty()) {
      throw new InvalidInput(where + trainer + " runs program " + open.getProgram() + ", but its heter worker "
          + job.program() + REPAIR);
    }
    if (open.getSeed() != job.seed()) {
      throw new InvalidInput(where + trainer + " has seed " + open.getSeed() + ", but its heter worker "
          + job.seed() + REPAIR);
    }
    for (Role role : List.of(Role.DENSE_VALUES, Role.FROZEN)) {
      sameParameters(where, of(own.getTensorsList(), role), of(open.getSignature().getTensorsList(), role), trainer);
    }
    List<CutTensor> expected = of(own.getTensorsList(), Role.INPUT);
    List<CutTensor> given = of(open.getSignature().getTensorsList(), Role.INPUT);
    if (given.size() != expected.size()) {
      throw new InvalidInput(where + "the part after the cut has " + given.size() + " inputs at " + trainer + ", but "
          + expected.size() + " at its heter worker" + REPAIR);
    }
    for (int i = 0; i < expected.size(); i++) {
      if (!expected.get(i).equals(given.get(i))) {
        throw new InvalidInput(where + given.get(i).getName() + " of the part after the cut is "
            + text(given.get(i)) + " at " + trainer + ", but " + text(expected.get(i)) + " at its heter worker"
                + REPAIR);
      }
    }
  }

  private static void sameParameters(String where, List<CutTensor> expected, List<CutTensor> given, String trainer) {
    for (int i = 0; i < Math.max(expected.size(), given.size()); i++) {
      String own = i < expected.size() ? parameter(expected.get(i)) : "no parameter";
      String theirs = i < given.size() ? parameter(given.get(i)) : "no parameter";
      if (!own.equals(theirs)) {
        throw new InvalidInput(where + "parameter " + (i + 1) + " of the part after the cut is " + theirs + " at "
            + trainer
            + ", but " + own + " at its heter worker" + REPAIR);
      }
    }
  }

  private static String parameter(CutTensor tensor) {
    return tensor.getName() + " " + tensor.getElement().name().toLowerCase(Locale.ROOT) + " " + tensor.getShapeList();
  }

  /**
   * Compares a batch with what the cut was opened with. Integers may come where floating-point numbers were announced,
   * as ids for a layer that looks them up; and inputs that only what follows the block uses.
   *
   * @param own as the network was initialized
   * @throws InvalidInput if an input has another floating-point type, or another dimension than the batch differs
   */
  public static void checkFirst(JobConfig job, CutSignature own, List<CutTensor> batch, String trainer) {
    List<CutTensor> expected = of(own.getTensorsList(), Role.INPUT);
    List<CutTensor> given = of(batch, Role.INPUT);
    for (int i = 0; i < expected.size(); i++) {
      if (i >= given.size() || !alike(expected.get(i), given.get(i))) {
        throw new InvalidInput("job " + job.job() + ": " + trainer + " sends "
            + (i < given.size() ? given.get(i).getName() + " " + text(given.get(i)) : "no input " + i)
            + " across the cut, but the network was initialized for " + text(expected.get(i))
            + "; give trainer.initialize the shapes of the data");
      }
    }
  }

  /**
   * Compares inputs and labels of a batch with those of the job's first one.
   *
   * @throws InvalidInput if they differ in number, type or a dimension other than the batch
   */
  public static void same(JobConfig job, List<CutTensor> first, List<CutTensor> other, String trainer) {
    for (Role role : List.of(Role.INPUT, Role.LABEL)) {
      List<CutTensor> expected = of(first, role);
      List<CutTensor> given = of(other, role);
      if (!texts(role, expected).equals(texts(role, given))) {
        throw new InvalidInput("job " + job.job() + ": " + trainer + " sends " + texts(role, given)
            + " across the cut, but the first batch of the job has " + texts(role, expected) + REPAIR);
      }
    }
  }

  /** Returns the inputs and labels of a batch. */
  public static List<CutTensor> crossing(BatchToCompute batch) {
    return batch.tensors().stream().map(TensorData::tensor)
        .filter(tensor -> tensor.getRole() == Role.INPUT || tensor.getRole() == Role.LABEL).toList();
  }

  /** Returns the tensors of a role, in their order. */
  private static List<CutTensor> of(List<CutTensor> tensors, Role role) {
    return tensors.stream().filter(tensor -> tensor.getRole() == role).toList();
  }

  private static boolean alike(CutTensor expected, CutTensor given) {
    if (expected.getShapeCount() != given.getShapeCount() || isFloating(given)
        && given.getElement() != expected.getElement()) {
      return false;
    }
    for (int i = 1; i < expected.getShapeCount(); i++) {
      if (expected.getShape(i) > 0 && expected.getShape(i) != given.getShape(i)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isFloating(CutTensor tensor) {
    return switch (tensor.getElement()) {
      case FLOAT16, FLOAT32, FLOAT64 -> true;
      default -> false;
    };
  }

  /** Returns the tensors of a role as text. */
  private static String texts(Role role, List<CutTensor> tensors) {
    return tensors.isEmpty() ? "no " + role.name().toLowerCase(Locale.ROOT)
        : tensors.stream().map(tensor -> tensor.getName() + " " + text(tensor)).collect(Collectors.joining(", "));
  }

  /** Returns a tensor as {@code float32 [*, 273]}. */
  public static String text(CutTensor tensor) {
    return tensor.getElement().name().toLowerCase(Locale.ROOT) + " " + shape(tensor);
  }

  private static String shape(CutTensor tensor) {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < tensor.getShapeCount(); i++) {
      text.append(i == 0 ? "*" : ", " + tensor.getShape(i));
    }
    return text.append(']').toString();
  }

  /** Returns inputs and labels as text, such as {@code input 0 float32 [*, 273], label 0 float32 [*, 1]}. */
  public static String describe(List<CutTensor> crossing) {
    return crossing.stream().map(tensor -> tensor.getName() + " " + text(tensor)).collect(Collectors.joining(", "));
  }

  /** Returns what crosses the cut as it is known at the start, in one line for both sides' logs. */
  public static String describe(JobConfig job, CutSignature signature) {
    List<CutTensor> inputs = of(signature.getTensorsList(), Role.INPUT);
    return "the cut of job " + job.job() + ": " + (inputs.isEmpty() ? "the loss alone" : describe(inputs))
        + "; dense parameters: " + signature.getDense() + " by "
        + switch (job.heter().path()) {
          case SERVERS -> "the servers";
          case COLLECTIVE -> "the heter workers' own sums";
          default -> "the trainers";
        };
  }
}
