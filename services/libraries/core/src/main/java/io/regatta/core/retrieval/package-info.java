/** Retrieval of items by vectors: exact nearest items, and estimates of how often items occur. Part of the public API. */
package io.regatta.core.retrieval;
