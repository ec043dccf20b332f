package io.regatta.training.snapshot;

import io.regatta.snapshot.FileEntry;
import io.regatta.training.session.TrainerSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a snapshot with the trainers' own state: this one's ({@link SnapshotState}), and that of all ranks
 * ({@link RankTensors}). The ranks send theirs before the snapshot is begun; until then it is kept beside the
 * snapshots. Belongs to the model thread of the rank that takes it.
 */
final class TrainersFiles {

  private static final Logger LOG = LoggerFactory.getLogger(TrainersFiles.class);

  private final TrainerSession session;
  private final Supplier<SnapshotState> kept;
  /** Temporary file, named like those of a killed writer, which are removed at the next start. */
  private final Path part;
  /** True if tensors have been received; and the error that prevented writing them, or null. */
  private boolean handedOver;
  private IOException failure;

  /** @param root of the snapshots */
  TrainersFiles(TrainerSession session, Path root, String writer, Supplier<SnapshotState> kept) {
    this.session = session;
    this.kept = kept;
    part = root.resolve(RankTensors.FILE + "." + writer + ".part");
  }

  /**
   * Receives the ranks' tensors; see {@link SnapshotRun#handedOver}. A failure is kept for the snapshot: the others
   * must not be left waiting here.
   */
  void handedOver(Map<String, float[]> own) {
    handedOver = true;
    failure = null;
    try {
      Files.createDirectories(part.getParent());
    } catch (IOException e) {
      failure = e;
    }
    try {
      RankTensors.handOver(session, own, failure == null ? part : null);
    } catch (IOException e) {
      failure = e;
    }
  }

  /** Writes the files into a snapshot that is being written. */
  List<FileEntry> write(Path dir) throws IOException {
    if (handedOver && failure != null) {
      throw failure;
    }
    List<FileEntry> files = new ArrayList<>(kept.get().write(dir));
    if (handedOver) {
      Files.move(part, dir.resolve(RankTensors.FILE));
      files.add(FileEntry.ofTensors(dir.resolve(RankTensors.FILE), RankTensors.FILE));
    }
    return files;
  }

  /** Drops received tensors that are in a snapshot, or not needed. */
  void drop() {
    try {
      if (handedOver) {
        Files.deleteIfExists(part);
      }
    } catch (IOException e) {
      LOG.warn("{} could not be removed: {}", part, e.toString());
    }
    handedOver = false;
  }
}
