/**
 * The dense vector in blocks, with its optimizer's slots, and the forms in which its values travel. Shards, clients and
 * snapshots call it.
 */
package io.regatta.core.dense;
