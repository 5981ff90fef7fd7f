/** Words that follow *the password is* or *token:* in sentences, documents and code without being a value. */
export const ORDINARY_WORDS: ReadonlySet<string> = new Set(
  `a about above absent accepted active added all allowed already also always an and any anything applied are array as asked at available bad
  based be because been before being below blank boolean bool both bound bytes cached called can cannot case changed char checked class clear
  compared compromised configured confirmed const contained copied correct created current currently default defined deleted denied derived
  different disabled displayed does done dynamic each easy either empty enabled encoded encrypted enough entered error even every example
  exactly exists expected expired exposed extremely false field fine first float following for forbidden forgotten found from func function
  generated given going good gone guessed handled hard has hashed have held hidden how if ignored important in incorrect input insecure inside
  instead int integer into invalid invalidated is issued it its itself just kept key known leaked length let like likely limited list locked
  logged long longer lost made managed mandatory masked match matched matches may meant missing more most must my name needed never new nil no
  none not nothing now null number numeric object of off ok okay on once one only open optional or other otherwise our out over own part passed
  password permanent permitted placed plain please possible presented present printed private probably processed protected provided public put
  quite random read ready really received recorded refreshed rejected removed replaced required requested reset restricted returned revoked
  right rotated safe same saved scoped secret secure secured seen self sensitive sent set shared short should shown signed simple simply so some
  something static still stolen stored str strictly string stripped strong such supplied supposed taken temporary text that the their them then
  there these they this those through thrown to token tokens too transmitted treated true trim two type typed undefined under unique unknown
  typically commonly often sometimes rarely frequently generally normally mostly mainly automatically both each several many few about
  unless unset unsafe until updated used useful user using usually valid validated value verified very via visible void want was way we weak well
  were what when where whether which while who whose why will with within without word words would wrong yes yet you your

  der die das ein eine einer falsch richtig nicht noch leer abgelaufen erforderlich notwendig bekannt unbekannt zu und oder im auf für
  le la les un une des du de incorrect invalide requis obligatoire pas trop est une el los las una uno no incorrecta incorrecto requerida
  obligatoria muy es de del para il lo gli uno non errata obbligatoria
  o os um uma não obrigatória de do da`.split(/\s+/),
)
