package io.regatta.training.evaluation;

import io.regatta.core.retrieval.TopItems;
import it.unimi.dsi.fastutil.longs.Long2ObjectAVLTreeMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Recall@k of retrieval by vectors: the share of the examples with a positive label whose item is among the k items of the
 * largest inner products with the user's vector. The items are those of all evaluated examples. An example's scores are the
 * user's vector, then the item's.
 */
final class RecallEvaluation implements EvaluationMetric {

  private static final int EXCHANGED = 1 << 17;
  private static final int HALF = 32;
  private static final long LOW = 0xffffffffL;

  private final ScoredLabel label;
  private final KeyOfExamples item;
  private final List<Integer> cuts;
  /** In ascending order of their hashes, so that equal products have one order on all replicas. */
  private final Long2ObjectAVLTreeMap<float[]> items = new Long2ObjectAVLTreeMap<>();
  private final List<float[]> users = new ArrayList<>();
  private final List<Long> wanted = new ArrayList<>();
  /** Hits by cut, and the number of positive examples; null until they are known. */
  private double[] hits;
  private int count;

  RecallEvaluation(ScoredLabel label, KeyOfExamples item, List<Integer> cuts) {
    this.label = label;
    this.item = item;
    this.cuts = cuts;
  }

  @Override
  public void add(Predictions batch) {
    int width = batch.size() == 0 ? 0 : batch.scores().length / batch.size() / 2;
    for (int i = 0; i < batch.size(); i++) {
      if (batch.isMissing(i, item.at())) {
        continue;
      }
      int at = batch.scoreIndex(i, label.scoresAt());
      long hash = batch.hash(i, item.at());
      keep(hash, Arrays.copyOfRange(batch.scores(), at + width, at + 2 * width));
      if (batch.label(i, label.labelAt()) > 0) {
        users.add(Arrays.copyOfRange(batch.scores(), at, at + width));
        wanted.add(hash);
      }
    }
  }

  /** Keeps one vector of an item whose other features vary, the same in any order of examples. */
  private void keep(long item, float[] vector) {
    items.merge(item, vector, (one, other) -> Arrays.compare(one, other) <= 0 ? one : other);
  }

  @Override
  public void merge(Ranks ranks) {
    if (ranks.count() > 1) {
      exchangeItems(ranks);
    }
    hits = ranks.sum().apply(counted());
  }

  /** Gives all replicas the items of all. */
  private void exchangeItems(Ranks ranks) {
    double[] sizes = new double[2 * ranks.count()];
    sizes[ranks.index()] = items.size();
    sizes[ranks.count() + ranks.index()] = items.isEmpty() ? 0 : items.get(items.firstLongKey()).length;
    sizes = ranks.sum().apply(sizes);
    int width = 0;
    int longest = 0;
    for (int i = 0; i < ranks.count(); i++) {
      longest = Math.max(longest, (int) sizes[i]);
      width = Math.max(width, (int) sizes[ranks.count() + i]);
    }
    int parts = 2 + width;
    long[] mine = items.keySet().toLongArray();
    int each = Math.max(1, EXCHANGED / parts / ranks.count());
    for (int from = 0; from < longest; from += each) {
      int room = Math.min(each, longest - from);
      double[] places = new double[ranks.count() * room * parts];
      for (int i = from; i < Math.min(mine.length, from + room); i++) {
        int at = (ranks.index() * room + i - from) * parts;
        places[at] = mine[i] >>> HALF;
        places[at + 1] = mine[i] & LOW;
        float[] vector = items.get(mine[i]);
        for (int d = 0; d < width; d++) {
          places[at + 2 + d] = vector[d];
        }
      }
      places = ranks.sum().apply(places);
      for (int rank = 0; rank < ranks.count(); rank++) {
        for (int i = from; i < Math.min((int) sizes[rank], from + room); i++) {
          int at = (rank * room + i - from) * parts;
          float[] vector = new float[width];
          for (int d = 0; d < width; d++) {
            vector[d] = (float) places[at + 2 + d];
          }
          keep((long) places[at] << HALF | (long) places[at + 1], vector);
        }
      }
    }
  }

  private double[] counted() {
    double[] counts = new double[cuts.size() + 1];
    counts[cuts.size()] = users.size();
    count = items.size();
    if (users.isEmpty()) {
      return counts;
    }
    long[] hashes = items.keySet().toLongArray();
    int width = users.get(0).length;
    float[] vectors = new float[hashes.length * width];
    for (int i = 0; i < hashes.length; i++) {
      System.arraycopy(items.get(hashes[i]), 0, vectors, i * width, width);
    }
    TopItems top = new TopItems(vectors, width);
    int most = cuts.stream().mapToInt(k -> k).max().orElse(1);
    for (int i = 0; i < users.size(); i++) {
      int[] best = top.best(users.get(i), 0, most);
      int place = 0;
      while (place < best.length && hashes[best[place]] != wanted.get(i)) {
        place++;
      }
      for (int c = 0; c < cuts.size(); c++) {
        counts[c] += place < Math.min(cuts.get(c), best.length) ? 1 : 0;
      }
    }
    return counts;
  }

  @Override
  public List<Value> values() {
    hits = hits == null ? counted() : hits;
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < cuts.size(); i++) {
      values.add(new Value("recall@" + cuts.get(i), hits[i] / hits[cuts.size()], true));
    }
    values.add(new Value("recall_items", count, false));
    return values;
  }
}
