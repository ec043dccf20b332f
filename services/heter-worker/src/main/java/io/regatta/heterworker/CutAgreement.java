package io.regatta.heterworker;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutOpen;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.training.config.JobConfig;
import java.util.List;

/** What crosses the cut, as this heter worker and its trainers have agreed on it. Owned by the verticle's event loop. */
final class CutAgreement {

  private final JobConfig job;
  /** With the labels of the first trainer; null: no trainer has opened the cut yet. */
  private CutSignature agreed;

  CutAgreement(JobConfig job) {
    this.job = job;
  }

  /**
   * Compares a trainer's cut with the own one, and its labels with those of the first trainer.
   *
   * @param own as this process has it, without labels
   * @param rank of the trainer, for messages
   * @throws InvalidInput if they differ
   */
  CutSignature agree(CutSignature own, CutOpen theirs, int rank) {
    String who = "trainer " + rank + " of job " + job.job();
    same(who, "job's seed", job.seed(), theirs.getSeed());
    CutSignature cut = theirs.getSignature();
    same(who, "number of elements of the part's parameters", own.getDense(), cut.getDense());
    if (!own.getParameters().equals(cut.getParameters())) {
      throw new InvalidInput(who + " has other parameters in the part after the cut than this heter worker; " + remedy());
    }
    for (Role role : List.of(Role.INPUT, Role.OUTPUT, Role.FROZEN)) {
      same(who, role, of(own, role), of(cut, role));
    }
    if (agreed == null) {
      agreed = own.toBuilder().addAllTensors(of(cut, Role.LABEL)).build();
    } else {
      same(who, Role.LABEL, of(agreed, Role.LABEL), of(cut, Role.LABEL));
    }
    return agreed;
  }

  /**
   * Checks that a batch is as agreed, but for the number of its examples.
   *
   * @throws InvalidInput if it is not
   */
  void check(BatchToCompute batch) {
    String who = "batch " + batch.id().number() + " of trainer " + batch.id().trainer().rank() + " of job " + job.job();
    List<CutTensor> tensors = batch.tensors().stream().map(TensorData::tensor).toList();
    for (Role role : List.of(Role.INPUT, Role.LABEL, Role.FROZEN)) {
      same(who, role, of(agreed, role), tensors.stream().filter(tensor -> tensor.getRole() == role).toList());
    }
  }

  private static List<CutTensor> of(CutSignature cut, Role role) {
    return cut.getTensorsList().stream().filter(tensor -> tensor.getRole() == role).toList();
  }

  private void same(String who, String what, long here, long there) {
    if (here != there) {
      throw new InvalidInput(who + " has " + there + " as " + what + ", and this heter worker " + here + "; " + remedy());
    }
  }

  private void same(String who, Role role, List<CutTensor> here, List<CutTensor> there) {
    String roles = role.name().toLowerCase(java.util.Locale.ROOT);
    same(who, "number of tensors of kind " + roles, here.size(), there.size());
    for (int i = 0; i < here.size(); i++) {
      if (here.get(i).getElement() != there.get(i).getElement() || !sameShape(here.get(i), there.get(i))) {
        throw new InvalidInput(who + " sends " + there.get(i).getName() + " as " + text(there.get(i)) + ", and this heter worker has "
            + text(here.get(i)) + "; " + remedy());
      }
    }
  }

  /** Compares shapes; a dimension that is not known beforehand is -1. */
  private static boolean sameShape(CutTensor one, CutTensor other) {
    if (one.getShapeCount() != other.getShapeCount()) {
      return false;
    }
    for (int i = 0; i < one.getShapeCount(); i++) {
      if (one.getShape(i) >= 0 && other.getShape(i) >= 0 && one.getShape(i) != other.getShape(i)) {
        return false;
      }
    }
    return true;
  }

  private static String text(CutTensor tensor) {
    return tensor.getElement().name().toLowerCase(java.util.Locale.ROOT) + " "
        + tensor.getShapeList().stream().map(n -> n < 0 ? "*" : n.toString()).toList();
  }

  private static String remedy() {
    return "give both the same program and the same job file";
  }
}
