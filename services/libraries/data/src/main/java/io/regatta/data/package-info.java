/**
 * Data sets as fixed-width examples: sources and the layouts of their examples, loaders, places to go on from, what becomes of bad lines,
 * and the data set that DJL takes. Text is read and parsed into primitive arrays on reader threads; engine arrays are made on the
 * model thread only, by {@link io.regatta.training.dataset.SlotDataset}. The packages within are files ({@code file}, which this one is
 * built on) and, built on it, formats ({@code format}), data sets over files ({@code dataset}), text in words, images, the UCI
 * repository's and generated data.
 */
package io.regatta.data;
