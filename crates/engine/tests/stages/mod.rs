//! One file per stage, in the order of the stages.

mod admit;
mod batch;
mod cancel;
mod cursor;
mod deadline;
mod door;
mod door_order;
mod era;
mod frame;
mod hello;
mod identify;
mod listing;
mod perform;
mod permit;
mod read;
mod record;
mod repeat;
mod resolve;
mod resource;
mod shape;
