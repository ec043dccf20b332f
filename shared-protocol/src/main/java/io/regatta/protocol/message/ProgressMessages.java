package io.regatta.protocol.message;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.protocol.parameterserver.RestoreRequest;
import io.regatta.protocol.tensor.TrainerProgress;

/** Progress of trainers as messages. Stateless. */
public final class ProgressMessages {

  private ProgressMessages() {}

  public static TrainerProgress of(io.regatta.core.exchange.TrainerProgress progress) {
    if (progress.equals(io.regatta.core.exchange.TrainerProgress.NONE)) {
      return TrainerProgress.getDefaultInstance();
    }
    TrainerProgress.Builder out = TrainerProgress.newBuilder().setLocalSteps(progress.localSteps())
        .setExchanges(progress.exchanges()).setLearningRateStep(progress.learningRateStep());
    if (progress.examples() >= 0) {
      out.setExamples(progress.examples());
    }
    for (Replica replica : progress.replicas()) {
      var of = out.addReplicasBuilder().setLocalSteps(replica.localSteps());
      replica.parts().forEach(p -> of.addPartsBuilder().setPass(p.pass()).setPart(p.part()).setOf(p.of())
          .setBatches(p.batches()).setStride(p.stride()));
    }
    return out.build();
  }

  /**
   * Returns the progress in a message.
   *
   * @throws InvalidInput if a count is negative
   */
  public static io.regatta.core.exchange.TrainerProgress read(TrainerProgress progress) {
    if (progress.equals(TrainerProgress.getDefaultInstance())) {
      return io.regatta.core.exchange.TrainerProgress.NONE;
    }
    if (progress.getLocalSteps() < 0 || progress.getExchanges() < 0 || progress.getLearningRateStep() < 0
        || progress.getExamples() < 0) {
      throw new InvalidInput("a trainer tells a progress of " + progress.getLocalSteps() + " local steps, " + progress.getExchanges()
          + " exchanges, learning-rate step " + progress.getLearningRateStep() + " and " + progress.getExamples()
          + " examples; counts are not negative");
    }
    return new io.regatta.core.exchange.TrainerProgress(progress.getLocalSteps(), progress.getExchanges(),
        progress.getLearningRateStep(),
        progress.hasExamples() ? progress.getExamples() : io.regatta.core.exchange.TrainerProgress.UNKNOWN,
        progress.getReplicasList().stream().map(replica -> new Replica(replica.getLocalSteps(),
            replica.getPartsList().stream().map(p -> new Part(p.getPass(), p.getPart(), p.getOf(), p.getBatches(),
                Math.max(1, p.getStride())))
                .toList())).toList());
  }

  /** Puts the place of a run into a request. */
  public static void put(ResumePoint at, RestoreRequest.Builder request) {
    request.setRound(at.round());
    for (TrainerStart trainer : at.trainers()) {
      request.addTrainersBuilder().setRank(trainer.rank()).setClock(trainer.clock()).setProgress(of(trainer.progress()));
    }
  }

  /** Returns the place of a run in a request. */
  public static ResumePoint at(RestoreRequest request) {
    return new ResumePoint(request.getRound(), request.getTrainersList().stream()
        .map(t -> new TrainerStart(t.getRank(), t.getClock(), read(t.getProgress()))).toList());
  }
}
