package io.regatta.trainer;

import io.regatta.trainer.djl.FleetTrainer;
import java.nio.file.Path;

/** TODO */
final class SavedModel {
  private SavedModel() {}

  static void write(Path dir, TrainerSession session, FleetTrainer trainer) {}
}
