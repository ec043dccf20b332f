/**
 * Data sets of fixed-width examples: sources and their layouts, loaders, cursors to resume from, the policy for bad
 * lines, and the data set that DJL takes. Reader threads read and parse text into primitive arrays; only
 * {@link io.regatta.trainer.data.SlotDataset} makes engine arrays, on the model thread.
 *
 * <p>Package {@code file} below is the base of this one; {@code format}, {@code dataset}, {@code text}, {@code image},
 * {@code uci} and {@code generate} build on it.
 */
package io.regatta.trainer.data;
