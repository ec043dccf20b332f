package io.regatta.core.data;

import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The rest of the passes over the data that some replica of a run has begun and not all have finished. Immutable. It is
 * divided among any number of replicas so that each batch is taken once. Replicas are in the order of ranks, and of
 * their numbers within these.
 *
 * @param first pass that is not finished
 * @param last pass whose rest is divided here; later ones are divided as always
 * @param parts by replica, those of earlier passes first; a replica that has none left has its part of the pass after
 *     the last
 */
public record UnfinishedPasses(int first, int last, List<List<Part>> parts) {

  /** Takes copies of the lists. */
  public UnfinishedPasses {
    parts = parts.stream().map(List::copyOf).toList();
  }

  /**
   * Divides the rest of the passes.
   *
   * @param before the replicas of the run so far
   * @param replicas that continue
   * @return empty if the rest is not known, or if the replicas have data of their own and their number has changed
   */
  public static Optional<UnfinishedPasses> of(List<Replica> before, int replicas) {
    if (before.isEmpty() || before.stream().allMatch(r -> r.parts().isEmpty())) {
      return Optional.empty();
    }
    List<List<Part>> known = new ArrayList<>();
    for (int r = 0; r < before.size(); r++) {
      List<Part> parts = before.get(r).parts();
      if (parts.isEmpty() && before.get(r).localSteps() > 0) {
        return Optional.empty();
      }
      known.add(parts.isEmpty() ? List.of(new Part(0, r, own(before) ? 0 : before.size(), 0)) : parts); // it has taken nothing
    }
    int first = known.stream().mapToInt(UnfinishedPasses::pass).min().orElseThrow();
    int last = known.stream().flatMap(List::stream).mapToInt(Part::pass).max().orElseThrow();
    if (before.size() == replicas) {
      return Optional.of(new UnfinishedPasses(first, last, known));
    }
    if (known.stream().flatMap(List::stream).anyMatch(part -> part.of() == 0)) {
      return Optional.empty();
    }
    List<List<Part>> divided = new ArrayList<>();
    for (int r = 0; r < replicas; r++) {
      divided.add(new ArrayList<>());
    }
    for (int pass = first; pass <= last; pass++) {
      divide(left(known, pass), divided);
    }
    for (int r = 0; r < replicas; r++) {
      if (divided.get(r).isEmpty()) { // to be told from a replica whose place is not known
        divided.get(r).add(new Part(last + 1, r, replicas, 0));
      }
    }
    return Optional.of(new UnfinishedPasses(first, last, divided));
  }

  /** Returns true if replicas read data that no other can read. */
  private static boolean own(List<Replica> replicas) {
    return replicas.stream().flatMap(r -> r.parts().stream()).anyMatch(part -> part.of() == 0);
  }

  /** Returns the pass that a replica is in. */
  private static int pass(List<Part> parts) {
    return parts.stream().mapToInt(Part::pass).min().orElseThrow();
  }

  /**
   * Returns the rest of a pass, in the order of parts. A part that is not named is finished, or its replica has not
   * reached the pass.
   */
  private static List<Part> left(List<List<Part>> replicas, int pass) {
    List<Part> left = new ArrayList<>(replicas.stream().flatMap(List::stream).filter(part -> part.pass() == pass).toList());
    int of = left.isEmpty() ? replicas.size() : left.get(0).of();
    for (int part = 0; part < of && of == replicas.size(); part++) {
      int number = part;
      boolean behind = replicas.get(part).stream().allMatch(p -> p.pass() < pass);
      if (behind && left.stream().noneMatch(p -> p.part() == number)) {
        left.add(new Part(pass, part, of, 0));
      }
    }
    left.sort(Comparator.comparingInt(Part::part).thenComparingLong(Part::batches));
    return left;
  }

  /** Gives each part to one replica; if there are more replicas than parts, several share one, batch by batch. */
  private static void divide(List<Part> left, List<List<Part>> among) {
    int n = among.size();
    for (int i = 0; i < left.size(); i++) {
      Part part = left.get(i);
      int sharers = i < n ? (n - 1 - i) / left.size() + 1 : 1;
      for (int s = 0; s < sharers; s++) {
        among.get((i + s * left.size()) % n).add(new Part(part.pass(), part.part(), part.of(), part.batches() + s * part.stride(),
            part.stride() * sharers));
      }
    }
  }
}
