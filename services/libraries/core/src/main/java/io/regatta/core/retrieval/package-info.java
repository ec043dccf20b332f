/**
 * Retrieval of items by vectors: exact search, and estimates of how often items occur. Part of the public API.
 */
package io.regatta.core.retrieval;
