/**
 * The trainer's view of a DJL model: its dense parameters in one vector, its tables on servers, its threads and its
 * engine. The training loop in {@code training.rank} calls it; programs use its blocks. Part of the public API.
 */
package io.regatta.training.model;
