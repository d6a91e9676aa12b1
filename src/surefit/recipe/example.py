"""A complete recipe with a comment a line: what `surefit recipe --example` prints."""

EXAMPLE = """\
# A surefit recipe. Only `model` and `data.train` are needed; every other line shows its default
# behind a `#`. Try it with `surefit plan THIS-FILE`, then `surefit train THIS-FILE`.

model: starter                # the small model that comes with surefit, the folder of a model,
                              # or its name on the Hugging Face Hub: org/name, org/name@revision

data:
  train: starter              # the sample that comes with surefit, or a JSONL file: one conversation a line,
                              #   {"messages": [{"role": "user", "content": "..."},
                              #                 {"role": "assistant", "content": "..."}]}
                              # or a data set on the Hub: org/name, org/name/subset:split
  # eval: 5%                  # rows held back for evaluation: a share, another file, or none
  # format: messages          # without it recognised from the columns
  # columns: {messages: chat} # which column holds what, where the names are others
  # max_unusable: 0           # rows that may be left out because they cannot be trained
  # loss: answers             # answers, last_answer or all
  # role_weights: {user: 0.1} # how much the turns of a role weigh in the loss; without it assistant 1, others 0
  # long_rows: cut            # cut, drop or split rows over goal.max_length
  # template_arguments: {enable_thinking: false}   # for the model's chat template

# method:
#   type: lora                # or rslora, dora, qlora (base in 4 bits); full trains every weight
#   rank: 16                  # size of the adapters
#   alpha: 32                 # scale of the adapters; without it twice the rank
#   dropout: 0.0
#   targets: all-linear       # layers with an adapter, or a list such as [q_proj, v_proj]

# goal:
#   epochs: 1                 # passes over the rows
#   learning_rate: 2e-4       # without it 2e-4 for lora and 2e-5 for full
#   batch: 8                  # conversations per optimizer step
#   max_length: 2048          # longest row in tokens; longer rows are cut and counted
#   schedule: cosine          # cosine, linear or constant
#   warmup: 0.03              # share of the steps in which the learning rate rises
#   weight_decay: 0.0
#   seed: 17

# hardware: this              # where to train

# limits:
#   hours: 6                  # stop with a checkpoint after this time
#   dollars: 20               # or after this much money, at the price below
#   dollars_per_hour: 2.5     # what the machine costs, all its devices together
#   silent_minutes: 15        # without any progress for this long the run counts as hung
#   no_improvement: 3         # end after so many evaluations without a lower loss

# how:                        # what the plan decides; fix a line only when you know why
#   micro_batch: 4            # conversations per pass; goal.batch must be a multiple of it
#   precision: float32        # float32 or bfloat16
#   layout: flat              # flat wastes no padding; padded fills rows up
#   packing: false            # join rows into sequences of max_length
#   gradient_checkpointing: false
#   checkpoint_every_steps: 50
#   keep_checkpoints: 2
#   threads: 2                # CPU threads of each worker process
#   strategy: single          # ddp: a whole model in each rank; fsdp: a share in each
#   ranks: 1                  # processes that train together
#   offload: false            # fsdp on GPUs: shares wait in the machine's memory
"""
