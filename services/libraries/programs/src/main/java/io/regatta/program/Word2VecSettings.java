package io.regatta.program;

import io.regatta.node.settings.Setting;

/** The {@code settings} section of {@link Word2Vec}. */
public record Word2VecSettings(
    @Setting(value = "ngram", doc = "What is learnt: ngram, the next word from those before it; or skipgram, which words are "
        + "near each other.") Kind model,
    @Setting(value = "32", doc = "Floats of a word's embedding.") int embedding,
    @Setting(value = "256", doc = "Width of the sigmoid layer of ngram.") int hidden,
    @Setting(value = "5", unit = "words", doc = "Words of a window: of ngram the next one included; of skipgram the farthest "
        + "that counts as near.") int window,
    @Setting(value = "5", doc = "Words drawn for each pair of skipgram.") int negatives,
    @Setting(value = "0.001", doc = "Share of the text above which a word is thinned out by skipgram; 0: none is.")
    double subsample,
    @Setting(value = "50", doc = "Words that come less often are <unk>, where the dictionary is made here.") int minCount,
    @Setting(value = "", doc = "Dictionary file, of regatta prepare dictionary; empty: made of all training files.")
    String dictionary,
    @Setting(value = "20000", doc = "Lines of training text to generate if there are no data.") int trainLines,
    @Setting(value = "2000", doc = "Lines of test text to generate if there are no data.") int testLines,
    @Setting(value = "3", doc = "Training files to generate if there are no data.") int trainFiles) {

  /** The task that is learned from the text. */
  public enum Kind {
    /** Predict the next word from those before it. */
    NGRAM,
    /** Predict which words are near each other. */
    SKIPGRAM
  }
}
