package io.regatta.training.heter;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchToCompute;
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
    CutSignature theirs = open.getSignature();
    if (theirs.getDense() != own.getDense() || !theirs.getParameters().equals(own.getParameters())) {
      throw new InvalidInput(where + "the part of the network after the cut has " + theirs.getDense()
          + " parameters at " + trainer
          + ", but " + own.getDense() + " at its heter worker, or other names or shapes" + REPAIR);
    }
    List<CutTensor> expected = of(own, Role.INPUT);
    List<CutTensor> given = of(theirs, Role.INPUT);
    if (given.size() < expected.size()) {
      throw new InvalidInput(where + trainer + " sends " + given.size() + " inputs of the part after the cut, but "
          + "its heter worker "
          + "expects " + expected.size() + REPAIR);
    }
    for (int i = 0; i < expected.size(); i++) {
      if (!alike(expected.get(i), given.get(i))) {
        throw new InvalidInput(where + given.get(i).getName() + " of the part after the cut is "
            + text(given.get(i)) + " at " + trainer
            + ", but " + shape(expected.get(i)) + " at its heter worker" + REPAIR);
      }
    }
  }

  /**
   * Compares inputs and labels of two trainers.
   *
   * @param first signature of the trainer that opened first
   * @throws InvalidInput if they differ in number, type or a dimension other than the batch
   */
  public static void same(JobConfig job, CutSignature first, CutSignature other, String trainer) {
    for (Role role : List.of(Role.INPUT, Role.LABEL)) {
      List<CutTensor> expected = of(first, role);
      List<CutTensor> given = of(other, role);
      if (!texts(role, expected).equals(texts(role, given))) {
        throw new InvalidInput("job " + job.job() + ": " + trainer + " sends " + texts(role, given)
            + " across the cut, but the first batch of the job has " + texts(role, expected) + REPAIR);
      }
    }
  }

  /**
   * Agrees with a trainer that opens a stream on what crosses.
   *
   * @param first what was agreed on with the trainers before; null: there were none
   * @return what every batch of the job has, labels included
   * @throws InvalidInput as {@link #check(JobConfig, CutSignature, CutOpen, String)} and {@link #same}
   */
  public static CutSignature agree(JobConfig job, CutSignature own, CutSignature first, CutOpen open, String trainer) {
    check(job, own, open, trainer);
    if (first != null) {
      same(job, first, open.getSignature(), trainer);
    }
    return first != null ? first : open.getSignature();
  }

  /**
   * Compares a batch with what was agreed on: number, types and dimensions but the first of its inputs and labels.
   *
   * @throws InvalidInput if they differ
   */
  public static void check(JobConfig job, CutSignature agreed, BatchToCompute batch, String trainer) {
    CutSignature.Builder own = CutSignature.newBuilder();
    batch.tensors().forEach(data -> own.addTensors(data.tensor()));
    same(job, agreed, own.build(), trainer);
  }

  /** Returns the tensors of a role, in their order. */
  private static List<CutTensor> of(CutSignature signature, Role role) {
    return signature.getTensorsList().stream().filter(tensor -> tensor.getRole() == role).toList();
  }

  private static boolean alike(CutTensor expected, CutTensor given) {
    if (expected.getShapeCount() != given.getShapeCount()) {
      return false;
    }
    for (int i = 1; i < expected.getShapeCount(); i++) {
      if (expected.getShape(i) > 0 && expected.getShape(i) != given.getShape(i)) {
        return false;
      }
    }
    return true;
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

  /** Returns what crosses the cut, in one line for both sides' logs. */
  public static String describe(JobConfig job, CutSignature signature) {
    String crossing = signature.getTensorsList().stream().filter(tensor -> tensor.getRole() != Role.FROZEN)
        .map(tensor -> tensor.getName() + " " + text(tensor)).collect(Collectors.joining(", "));
    return "the cut of job " + job.job() + ": " + crossing + "; dense parameters: " + signature.getDense() + " by "
        + switch (job.heter().path()) {
          case SERVERS -> "the servers";
          case COLLECTIVE -> "the heter workers' own sums";
          default -> "the trainers";
        };
  }
}
