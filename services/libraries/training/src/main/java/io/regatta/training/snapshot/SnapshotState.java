package io.regatta.training.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state that a trainer holds outside of the shards and that a resumed run needs. It is a file of the snapshot,
 * written by the rank that takes it and read by all. Immutable; the arrays must not be changed.
 *
 * @param frozen values of parameters that are not trained (running means), by name: those of the rank that takes the
 *     snapshot
 * @param pass present pass of an elastic job, from 0; -1: none, or the job is not elastic
 * @param ledger of that pass, see {@link io.regatta.core.data.Ledger#state}; else empty
 */
public record SnapshotState(Map<String, float[]> frozen, int pass, long[] ledger) {

  /** State of a snapshot without such a file. */
  public static final SnapshotState NOTHING = new SnapshotState(Map.of(), -1, new long[0]);

  static final String FILE = "trainers" + SafetensorsFile.SUFFIX;
  private static final String FROZEN = "frozen/";
  private static final String LEDGER = "ledger";
  private static final String PASS = "pass";

  /** Writes the file into a snapshot that is being written, if there is any state. */
  List<FileEntry> write(Path dir) throws IOException {
    if (frozen.isEmpty() && ledger.length == 0) {
      return List.of();
    }
    List<String> names = new ArrayList<>(List.of(LEDGER));
    frozen.keySet().forEach(name -> names.add(FROZEN + name));
    Map<String, String> metadata = Map.of(PASS, Integer.toString(pass));
    Path path = dir.resolve(FILE);
    try (SafetensorsWriter out = new SafetensorsWriter(path, SafetensorsWriter.headerBytes(names, metadata), metadata)) {
      for (Map.Entry<String, float[]> of : frozen.entrySet()) {
        int n = of.getValue().length;
        out.tensor(FROZEN + of.getKey(), TensorInfo.F32, List.of(n)).floats(of.getValue(), 0, n);
      }
      if (ledger.length > 0) {
        out.tensor(LEDGER, TensorInfo.I64, List.of(ledger.length)).longs(ledger, 0, ledger.length);
      }
      out.finish();
    }
    return List.of(FileEntry.ofTensors(path, FILE));
  }

  /**
   * Returns the state in the snapshot from which a run resumes, or starts. Blocks on files.
   *
   * @throws InvalidInput if it is damaged
   */
  public static SnapshotState of(StartingPoint start) {
    if (start.manifest() == null) {
      return NOTHING;
    }
    try {
      for (FileEntry file : start.manifest().trainersFiles()) {
        if (file.file().equals(FILE)) {
          return read(ConfinedDirectory.of(start.dir()), file);
        }
      }
      return NOTHING;
    } catch (IOException e) {
      throw new InvalidInput(start.dir().resolve(FILE) + " cannot be read: " + e, e);
    }
  }

  private static SnapshotState read(ConfinedDirectory dir, FileEntry entry) throws IOException {
    String damage = entry.damage(dir);
    if (damage != null) {
      throw new InvalidInput(damage + "; resume from another snapshot");
    }
    Map<String, float[]> frozen = new LinkedHashMap<>();
    try (SafetensorsFile file = entry.tensors(dir)) {
      for (TensorInfo tensor : file.tensors()) {
        if (tensor.name().startsWith(FROZEN)) {
          frozen.put(tensor.name().substring(FROZEN.length()), file.floats(tensor.name()));
        }
      }
      long[] ledger = new long[file.has(LEDGER) ? Math.toIntExact(file.tensor(LEDGER, TensorInfo.I64).elements()) : 0];
      if (ledger.length > 0) {
        file.read(LEDGER, TensorInfo.I64).longs(ledger, 0, ledger.length);
      }
      return new SnapshotState(frozen, Integer.parseInt(file.metadata().getOrDefault(PASS, "-1")), ledger);
    }
  }
}
