package io.regatta.data;

/**
 * A source whose examples have numbers from 0. Only numbers are shuffled and assigned, and any example can be read
 * without those before it. An example also knows its pass, so that random choices for it (augmentation) can be a
 * function of seed, pass and number.
 */
public abstract class IndexedSource implements SlotSource<IndexedSource.Example> {

  /** The number of an example and of the pass that reads it, both from 0. */
  public record Example(int index, int pass) {}

  /** Returns the number of examples. */
  @Override
  public abstract long size();

  @Override
  public final Cursor<Example> open() {
    return open(DataCursor.startOf(0));
  }

  @Override
  public final Cursor<Example> open(DataCursor place) {
    return new Cursor<>() {
      private int next = Math.toIntExact(Math.min(place.records(), size()));

      @Override
      public Example next() {
        return next < size() ? new Example(next++, place.pass()) : null;
      }

      @Override
      public void close() {}
    };
  }
}
