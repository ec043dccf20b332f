package io.regatta.data;

import java.util.List;

/**
 * The partition of a job's training data that one position (a replica of a trainer) reads. Immutable.
 *
 * @param files by name, that this position reads alone; empty: it reads every {@code positions}th record of all data
 * @param source of all data, for messages
 * @param examples of one pass, -1 if they are not known without reading
 */
public record DataShare(List<String> files, String source, int position, int positions, long examples) {

  public DataShare {
    files = List.copyOf(files);
  }
}
