/**
 * Data sets as fixed-width examples: readers (Criteo, UCI housing, Census Income), a generator of Criteo-shaped files,
 * and loaders. Text is read and parsed into primitive arrays on reader threads; engine arrays are made on the model
 * thread only, by {@link io.regatta.trainer.data.SlotDataset}.
 */
package io.regatta.trainer.data;
