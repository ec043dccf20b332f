package io.regatta.training.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.TrainerSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tensors that differ between ranks (gradients that deep gradient compression has not sent yet), and their transfer
 * to the rank that takes a snapshot, and back. Ranks send them one after the other, so that no rank holds all of them.
 * Stateless; used on a model thread.
 *
 * <p>In a run resumed with as many ranks each rank gets its own. With another number each gets an equal share of the
 * sum of all. The accumulated values are linear in the gradients, so that none of them are lost or counted twice, as
 * they would be if removed ranks took theirs with them.
 */
public final class RankTensors {

  static final String FILE = "ranks" + SafetensorsFile.SUFFIX;
  private static final String RANKS = "ranks";

  private RankTensors() {}

  private static String name(int rank, String tensor) {
    return "rank" + rank + "/" + tensor;
  }

  /**
   * Sends this rank's tensors to the rank that takes the snapshot. All ranks call it at the same step. If the file
   * cannot be written, the others' tensors are still received to the end.
   *
   * @param own the same names and lengths on all ranks
   * @param to the file in which one rank writes them; null on the others
   * @throws IOException on that one
   */
  static void handOver(TrainerSession session, Map<String, float[]> own, Path to) throws IOException {
    List<String> names = new ArrayList<>();
    for (int rank = 0; rank < session.worldSize(); rank++) {
      for (String tensor : own.keySet()) {
        names.add(name(rank, tensor));
      }
    }
    Map<String, String> metadata = Map.of(RANKS, Integer.toString(session.worldSize()));
    IOException failure = null;
    SafetensorsWriter out = null;
    try {
      out = to == null ? null : new SafetensorsWriter(to, SafetensorsWriter.headerBytes(names, metadata), metadata);
    } catch (IOException e) {
      failure = e;
    }
    try {
      for (int rank = 0; rank < session.worldSize(); rank++) {
        for (Map.Entry<String, float[]> tensor : own.entrySet()) {
          float[] its = given(session, rank, tensor.getValue());
          if (out != null && failure == null) {
            try {
              out.tensor(name(rank, tensor.getKey()), TensorInfo.F32, List.of(its.length)).floats(its, 0, its.length);
            } catch (IOException e) {
              failure = e;
            }
          }
        }
      }
      if (failure != null) {
        throw failure;
      }
      if (out != null) {
        out.finish();
      }
    } finally {
      if (out != null) {
        out.close();
      }
    }
  }

  /** Returns a rank's tensor, broadcast by that rank; {@code own} is this rank's. */
  private static float[] given(TrainerSession session, int rank, float[] own) {
    PeerRanks peers = session.ranks().orElseThrow().peers();
    boolean gives = session.trainer().rank() == rank;
    ByteBuffer memory = ByteBuffer.allocateDirect(Math.multiplyExact(own.length, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    if (gives) {
      memory.asFloatBuffer().put(own);
    }
    session.await("state of rank " + rank + ", for a snapshot", peers.broadcast(memory, rank));
    if (gives) {
      return own;
    }
    float[] its = new float[own.length];
    memory.asFloatBuffer().get(its);
    return its;
  }

  /** Returns true if the snapshot from which a run resumes has any. */
  public static boolean areIn(StartingPoint start) {
    return entry(start).isPresent();
  }

  private static Optional<FileEntry> entry(StartingPoint start) {
    return start.resume() ? start.manifest().trainersFiles().stream().filter(file -> file.file().equals(FILE)).findFirst()
        : Optional.empty();
  }

  /**
   * Restores the tensors of a rank of a resumed run, if the snapshot has any for it. Blocks on files.
   *
   * @param own of that rank, by name
   * @throws InvalidInput if the file is damaged, or has a tensor that the rank does not have
   */
  public static void restore(StartingPoint start, int rank, int ranks, Map<String, float[]> own) {
    of(start, rank, ranks).forEach((name, values) -> {
      float[] to = own.get(name);
      if (to == null || to.length != values.length) {
        throw new InvalidInput(start.dir() + " has for each rank " + values.length + " elements of " + name + ", of which this run "
            + (to == null ? "keeps none" : "keeps " + to.length) + "; resume with the model, optimizer and strategy that it was taken "
            + "with, or start a new run from it with init_from");
      }
      System.arraycopy(values, 0, to, 0, values.length);
    });
  }

  private static Map<String, float[]> of(StartingPoint start, int rank, int ranks) {
    Optional<FileEntry> file = entry(start);
    try {
      return file.isPresent() ? read(ConfinedDirectory.of(start.dir()), file.get(), rank, ranks) : Map.of();
    } catch (IOException e) {
      throw new InvalidInput(start.dir().resolve(FILE) + " cannot be read: " + e, e);
    }
  }

  private static Map<String, float[]> read(ConfinedDirectory dir, FileEntry entry, int rank, int ranks)
      throws IOException {
    String damage = entry.damage(dir);
    if (damage != null) {
      throw new InvalidInput(damage + "; resume from another snapshot");
    }
    Map<String, float[]> tensors = new LinkedHashMap<>();
    try (SafetensorsFile file = entry.tensors(dir)) {
      boolean same = Integer.parseInt(file.metadata().get(RANKS)) == ranks;
      for (TensorInfo tensor : file.tensors()) {
        String name = tensor.name().substring(tensor.name().indexOf('/') + 1);
        if (!same) {
          float[] its = file.floats(tensor.name());
          float[] sum = tensors.computeIfAbsent(name, n -> new float[its.length]);
          for (int i = 0; i < its.length; i++) {
            sum[i] += its[i] / ranks;
          }
        } else if (tensor.name().equals(name(rank, name))) {
          tensors.put(name, file.floats(tensor.name()));
        }
      }
    }
    return tensors;
  }
}
