/**
 * Data sets as fixed-width examples: formats (Criteo, LibSVM, MultiSlot, slot text, CSV, Parquet, text in words, UCI housing,
 * Census Income), generators of click data and of text, loaders, and the data sets that DJL takes. Text is read and parsed into
 * primitive arrays on reader threads; engine arrays are made on the model thread only, by
 * {@link io.regatta.trainer.data.SlotDataset}.
 */
package io.regatta.trainer.data;
