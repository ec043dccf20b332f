package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;

/** The ids of one namespace that have rows of their own; all others share the rare id. Immutable; any thread. */
public final class Vocabulary {

  private final LongOpenHashSet set;
  private final long digest;

  /** @param ids sorted, each once */
  public Vocabulary(long[] ids) {
    Digest digests = new Digest();
    for (int i = 0; i < ids.length; i++) {
      if (i > 0 && ids[i - 1] >= ids[i]) {
        throw new InvalidInput("the ids of a vocabulary must be sorted and distinct, but id number " + (i + 1) + ", " + ids[i]
            + ", follows " + ids[i - 1]);
      }
      digests.add(ids[i]);
    }
    set = new LongOpenHashSet(ids);
    digest = digests.value();
  }

  /** Returns the vocabulary of these values, as UTF-8, of a namespace. */
  public static Vocabulary of(String namespace, List<byte[]> values) {
    IdNamespace ids = new IdNamespace(IdCoding.of(namespace), null);
    return new Vocabulary(values.stream().mapToLong(text -> ids.id(text, 0, text.length)).sorted().distinct().toArray());
  }

  public boolean has(long id) {
    return set.contains(id);
  }

  public int size() {
    return set.size();
  }

  long digest() {
    return digest;
  }
}
