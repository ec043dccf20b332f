/**
 * The specification of a model's parameters: dense variables, sparse tables, and which shard holds what. Trainers
 * make it, and shards check and follow it. Part of the public API.
 */
package io.regatta.core.model;
