package io.regatta.training.result;

import io.regatta.core.error.RegattaException.PeerLost;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The trainers that a run has lost, and whose data no other trainer trains. Immutable.
 *
 * @param accepted true if the job said beforehand that it continues without them ({@code on_trainer_lost: continue})
 */
public record RunLosses(List<LostTrainer> trainers, boolean accepted) {

  /** No trainer was lost. */
  public static final RunLosses NONE = new RunLosses(List.of(), false);

  public RunLosses {
    trainers = List.copyOf(trainers);
  }

  /** Returns true unless it is known that all data were trained. */
  public boolean hasUntrained() {
    return trainers.stream().anyMatch(LostTrainer::hasUntrained);
  }

  /** Returns the examples that these trainers had trained by their last heartbeats. */
  public long examples() {
    return trainers.stream().mapToLong(lost -> Math.max(0, lost.examples())).sum();
  }

  /** Returns the data that were not trained, in words; empty if all were. */
  public String untrained() {
    return trainers.stream().filter(LostTrainer::hasUntrained).map(LostTrainer::toString).collect(Collectors.joining("; "));
  }

  /** Returns the failure with which the run ends because of these trainers; empty if it ends with success. */
  public Optional<PeerLost> failure(String job) {
    return accepted || !hasUntrained() ? Optional.empty()
        : Optional.of(new PeerLost("job " + job + " has ended without some of its data: " + untrained()
            + ". The model holds what the others have trained; start the job again, with resume: auto if it takes snapshots, or set "
            + "on_trainer_lost: continue if that is enough"));
  }
}
